// Package png decodes PNG pictures, whole or a window of them. The chunks are read here, libdeflate inflates, and small
// kernels undo the filters and expand the samples. What is accepted, and what comes out, is as with libpng.
package png

// #cgo CFLAGS: -std=gnu11 -O3 -Wall -Wextra
// #cgo pkg-config: libdeflate
// #cgo noescape tgl_png_unfilter
// #cgo nocallback tgl_png_unfilter
// #cgo noescape tgl_png_expand
// #cgo nocallback tgl_png_expand
// #cgo noescape libdeflate_zlib_decompress_ex
// #cgo nocallback libdeflate_zlib_decompress_ex
// #include "kernels.h"
// #include <libdeflate.h>
import "C"

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"syscall"
	"unsafe"
)

// What can be wrong with a file; every error of this package wraps one of them.
var (
	ErrCorrupt   = errors.New("corrupt PNG")
	ErrTruncated = errors.New("truncated PNG")
	ErrMemory    = error(syscall.ENOMEM)
	ErrMisuse    = errors.New("misuse of the PNG decoder")
)

// Header is what the file says of itself.
type Header struct {
	Width, Height int
	Alpha         bool   // some pixels may not be opaque
	Numbers       bool   // the samples are numbers of at most 8 bits, gray or of a palette
	Exif          []byte // the eXIf chunk, a part of the data; nil where there is none
}

// Form is what is asked of Read: 3 channels (RGB) or 4 (RGBA), of 8 bits or of 16 in native byte order; or 1 channel of 8
// bits, the numbers that the file holds, where its header says that it does.
type Form struct {
	Channels int
	Wide     bool
}

// PixelBytes is the size of a pixel.
func (f Form) PixelBytes() int {
	if f.Wide {
		return 2 * f.Channels
	}
	return f.Channels
}

// Decoder decodes one picture after another; it serves one goroutine at a time and must be closed.
type Decoder struct {
	inflater *C.struct_libdeflate_decompressor
	data     []byte
	file     *file
	joined   []byte // the compressed data where it lies in more than one chunk
	raw      []byte // the inflated rows
	zeros    []byte
	row      []byte // one row of an interlaced picture's pass
	pix      []byte
}

// NewDecoder makes a decoder.
func NewDecoder() (*Decoder, error) {
	inflater := C.libdeflate_alloc_decompressor()
	if inflater == nil {
		return nil, fmt.Errorf("png: new decoder: %w", ErrMemory)
	}
	return &Decoder{inflater: inflater}, nil
}

// Close frees the decoder.
func (d *Decoder) Close() {
	C.libdeflate_free_decompressor(d.inflater)
	d.inflater = nil
}

// Open reads all chunks but decodes no pixels; data must not change until the next Open.
func (d *Decoder) Open(data []byte) (Header, error) {
	d.data, d.file = nil, nil
	d.trim()
	f, err := parse(data)
	if err != nil {
		return Header{}, err
	}
	d.data, d.file = data, f
	alpha := f.colorType == grayAlpha || f.colorType == rgba || f.transparency != nil
	return Header{f.width, f.height, alpha, f.numbers(), f.exif}, nil
}

func (f *file) numbers() bool { return f.colorType == indexed || f.colorType == gray && f.bits <= 8 }

// can says whether the picture has such a form.
func (f *file) can(form Form) bool {
	return form.Channels == 3 || form.Channels == 4 || form.Channels == 1 && !form.Wide && f.numbers()
}

// kept is how large a buffer may be to wait for the next picture.
const kept = 64 << 20

// trim gives back what only a giant picture needed.
func (d *Decoder) trim() {
	for _, buffer := range []*[]byte{&d.joined, &d.raw, &d.zeros, &d.row, &d.pix} {
		if cap(*buffer) > kept {
			*buffer = nil
		}
	}
}

// grow makes a buffer of a size; what it holds is undefined.
func grow(buffer *[]byte, size int) []byte {
	if cap(*buffer) < size {
		*buffer = nil // the old one can go before the new one comes
		*buffer = make([]byte, size)
	}
	return (*buffer)[:size]
}

// pass is a part of the rows, each of every dx-th pixel of every dy-th row; a picture that is not interlaced is one.
type pass struct{ x, y, dx, dy int }

var (
	whole = []pass{{0, 0, 1, 1}}
	adam7 = []pass{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
)

// size is how many pixels wide and high a pass is.
func (p pass) size(f *file) (width, height int) {
	return max(0, (f.width-p.x+p.dx-1)/p.dx), max(0, (f.height-p.y+p.dy-1)/p.dy)
}

func (f *file) passes() []pass {
	if f.interlaced {
		return adam7
	}
	return whole
}

// rawSize is the size of all rows inflated, or an error where no file could hold them.
func (f *file) rawSize(compressed int) (int, error) {
	// Deflate makes at most 1032 bytes of one.
	limit := 1032 * (int64(compressed) + 8)
	var size int64
	for _, p := range f.passes() {
		width, height := p.size(f)
		if width == 0 || height == 0 {
			continue
		}
		row := int64(f.rowBytes(width)) + 1
		if row > limit/int64(height) {
			return 0, tooShort(compressed)
		}
		size += row * int64(height)
	}
	return int(size), nil
}

func tooShort(compressed int) error {
	return fmt.Errorf("%w: %d bytes of image data are not enough", ErrTruncated, compressed)
}

// Read decodes a window of the picture that was opened last: its pixels, row after row without gaps, valid until the
// decoder's next call. Everything is inflated, so whether a file is damaged does not depend on the window.
func (d *Decoder) Read(window image.Rectangle, form Form) ([]byte, error) {
	f := d.file
	if f == nil || window.Empty() || !window.In(image.Rect(0, 0, f.width, f.height)) || !f.can(form) {
		return nil, fmt.Errorf("%w: nothing is open, or window %v of form %v cannot be", ErrMisuse, window, form)
	}
	if err := d.inflate(); err != nil {
		return nil, err
	}
	samples := f.meaning()
	if form.Channels == 1 {
		for i := range samples.table {
			samples.table[i][0] = C.uint8_t(i)
		}
	}
	pix := grow(&d.pix, window.Dx()*window.Dy()*form.PixelBytes())
	raw := d.raw
	for _, p := range f.passes() {
		width, height := p.size(f)
		if width == 0 || height == 0 {
			continue
		}
		rowBytes := f.rowBytes(width)
		zeros := grow(&d.zeros, rowBytes+C.PNG_PADDING) // never written to
		needed := max(0, min(height, (window.Max.Y-p.y+p.dy-1)/p.dy))
		if !bool(C.tgl_png_unfilter(pointer(raw), C.size_t(rowBytes), C.size_t(height), C.size_t(needed),
			C.size_t(max(1, f.bits*f.samples()/8)), pointer(zeros))) {
			return nil, fmt.Errorf("%w: unknown filter", ErrCorrupt)
		}
		for y := range needed {
			if top := p.y + y*p.dy - window.Min.Y; top >= 0 {
				row := raw[y*(rowBytes+1)+1:][:rowBytes]
				d.place(&samples, p, row, width, pix[top*window.Dx()*form.PixelBytes():], window, form)
			}
		}
		raw = raw[height*(rowBytes+1):]
	}
	return pix, nil
}

// inflate fills raw.
func (d *Decoder) inflate() error {
	compressed, err := d.compressed()
	if err != nil {
		return err
	}
	size, err := d.file.rawSize(len(compressed))
	if err != nil {
		return err
	}
	d.raw = grow(&d.raw, size+C.PNG_PADDING)
	if len(compressed) == 0 {
		return tooShort(0)
	}
	var used, got C.size_t
	result := C.libdeflate_zlib_decompress_ex(d.inflater, unsafe.Pointer(unsafe.SliceData(compressed)), C.size_t(len(compressed)),
		unsafe.Pointer(unsafe.SliceData(d.raw)), C.size_t(size), &used, &got)
	switch {
	case result == C.LIBDEFLATE_SUCCESS && int(got) == size:
		return nil
	case result == C.LIBDEFLATE_SUCCESS:
		return tooShort(len(compressed))
	case result == C.LIBDEFLATE_INSUFFICIENT_SPACE:
		return d.inflateStart(compressed, size)
	default:
		return fmt.Errorf("%w: the compressed data is damaged", ErrCorrupt)
	}
}

// inflateStart is for data that goes on after the last row, which libdeflate does not decode.
func (d *Decoder) inflateStart(compressed []byte, size int) error {
	stream, err := zlib.NewReader(bytes.NewReader(compressed))
	if err == nil {
		_, err = io.ReadFull(stream, d.raw[:size])
	}
	if err != nil {
		return fmt.Errorf("%w: the compressed data is damaged: %w", ErrCorrupt, err)
	}
	return nil
}

// compressed joins the data of all parts.
func (d *Decoder) compressed() ([]byte, error) {
	f := d.file
	if f.parts == 1 {
		return d.data[f.first+8 : f.last-4], nil
	}
	joined := grow(&d.joined, f.last-f.first)[:0]
	for at := f.first; at < f.last; {
		c, err := chunkAt(d.data, at)
		if err != nil {
			return nil, err
		}
		joined = append(joined, c.body...)
		at = c.end
	}
	return joined, nil
}

// meaning says what the samples of the picture's rows stand for.
func (f *file) meaning() C.tgl_png_samples {
	kinds := map[[2]int]uint32{
		{gray, 16}: C.PNG_GRAY16, {rgb, 8}: C.PNG_RGB8, {rgb, 16}: C.PNG_RGB16, {grayAlpha, 8}: C.PNG_GRAY_ALPHA8,
		{grayAlpha, 16}: C.PNG_GRAY_ALPHA16, {rgba, 8}: C.PNG_RGBA8, {rgba, 16}: C.PNG_RGBA16,
	} // all others are C.PNG_INDEXED
	s := C.tgl_png_samples{kind: kinds[[2]int{f.colorType, f.bits}], bits: C.int(f.bits)}
	for i := range s.table {
		entry := &s.table[i]
		entry[3] = 255
		switch {
		case f.colorType == gray && f.bits <= 8 && i < 1<<f.bits:
			entry[0] = C.uint8_t(i * 255 / (1<<f.bits - 1))
			entry[1], entry[2] = entry[0], entry[0]
		case f.colorType == indexed && i < len(f.palette)/3: // numbers beyond the palette are black
			entry[0], entry[1], entry[2] = C.uint8_t(f.palette[3*i]), C.uint8_t(f.palette[3*i+1]), C.uint8_t(f.palette[3*i+2])
			if i < len(f.transparency) {
				entry[3] = C.uint8_t(f.transparency[i])
			}
		}
	}
	if f.colorType == indexed || f.transparency == nil {
		return s
	}
	s.keyed = true
	for i := range len(f.transparency) / 2 {
		// Bits that a sample does not have do not count.
		s.transparent[i] = C.uint16_t(int(binary.BigEndian.Uint16(f.transparency[2*i:])) & (1<<f.bits - 1))
	}
	if f.colorType == gray && f.bits <= 8 {
		s.table[s.transparent[0]][3] = 0
	}
	return s
}

// place writes what the window shows of one row of a pass to its row of the output.
func (d *Decoder) place(samples *C.tgl_png_samples, p pass, row []byte, width int, out []byte, window image.Rectangle, form Form) {
	if p.dx == 1 {
		C.tgl_png_expand(samples, pointer(row), C.size_t(window.Min.X), C.size_t(window.Dx()), pointer(out), C.int(form.Channels), C.bool(form.Wide))
		return
	}
	size := form.PixelBytes()
	pixels := grow(&d.row, width*size)
	C.tgl_png_expand(samples, pointer(row), 0, C.size_t(width), pointer(pixels), C.int(form.Channels), C.bool(form.Wide))
	first := max(0, (window.Min.X-p.x+p.dx-1)/p.dx)
	for i := first; i < width && p.x+i*p.dx < window.Max.X; i++ {
		copy(out[(p.x+i*p.dx-window.Min.X)*size:][:size], pixels[i*size:])
	}
}

func pointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }
