// Package pixel holds the kernels that turn decoded pictures into the samples of a batch.
package pixel

// #cgo LDFLAGS: -lm
// #cgo CFLAGS: -std=c11 -O2 -fno-fast-math -Wall -Wextra
// #cgo noescape pixel_write_float32
// #cgo nocallback pixel_write_float32
// #cgo noescape pixel_write_half
// #cgo nocallback pixel_write_half
// #cgo noescape pixel_write_uint8
// #cgo nocallback pixel_write_uint8
// // ISO mode also keeps GCC from rounding a product and its sum only once.
// #include "kernels.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

var (
	// ErrWriter is wrapped by the errors of NewWriter.
	ErrWriter = errors.New("pixel: unsupported writer")
	// ErrSize is wrapped by the errors of Writer.Write.
	ErrSize = errors.New("pixel: sizes do not match")
)

// DType is the type of a batch's samples.
type DType int

const (
	Uint8 DType = iota
	Float32
	Uint16
	Float16
	BFloat16
)

// float tells whether samples have a scale and an offset.
func (d DType) float() bool { return d == Float32 || d == Float16 || d == BFloat16 }

// sample returns what kernels call the dtype, which is not Uint16.
func (d DType) sample() uint32 {
	return [...]uint32{Uint8: C.PIXEL_UINT8, Float32: C.PIXEL_FLOAT32, Float16: C.PIXEL_FLOAT16, BFloat16: C.PIXEL_BFLOAT16}[d]
}

// Layout is the order of a batch's axes.
type Layout int

const (
	ChannelsLast  Layout = iota // height, width, channels
	ChannelsFirst               // channels, height, width
)

// Picture is a window of interleaved pixels; its rows begin Stride bytes apart in Pix.
type Picture struct {
	Pix                             []byte
	Stride, Width, Height, Channels int
	Wide                            bool // samples have 16 bits, in native byte order, not 8
}

// PixelBytes returns the size of a pixel.
func (p Picture) PixelBytes() int {
	if p.Wide {
		return 2 * p.Channels
	}
	return p.Channels
}

// Affine holds for each channel the coefficients of y = x*Scale + Offset, which is computed to more than float32 holds
// and then rounded.
type Affine struct {
	Scale, Offset []float64
}

// Writer writes pictures in one form into batches. It is immutable, so goroutines may share it.
type Writer struct {
	channels     int
	dtype        DType
	layout       Layout
	instructions instructions
	float32      C.struct_pixel_float32
}

// NewWriter returns a writer of pictures of 1, 3 or 4 channels. Values are for floats only; nil keeps 0 to 255. Float16
// and BFloat16 are Float32's results rounded half to even, as numpy.float16 and ml_dtypes.bfloat16 do. The result is the
// same on every machine. Errors wrap ErrWriter.
func NewWriter(channels int, dtype DType, layout Layout, values *Affine) (*Writer, error) {
	return newWriter(channels, dtype, layout, values, best())
}

func newWriter(channels int, dtype DType, layout Layout, values *Affine, set instructions) (*Writer, error) {
	switch {
	case channels != 1 && channels != 3 && channels != 4:
		return nil, fmt.Errorf("%w: %d channels, not 1, 3 or 4", ErrWriter, channels)
	case layout != ChannelsLast && layout != ChannelsFirst:
		return nil, fmt.Errorf("%w: layout %d", ErrWriter, layout)
	case dtype < Uint8 || dtype > BFloat16:
		return nil, fmt.Errorf("%w: dtype %d", ErrWriter, dtype)
	case !dtype.float() && values != nil:
		return nil, fmt.Errorf("%w: integer samples take no scale and offset", ErrWriter)
	case values != nil && (len(values.Scale) != channels || len(values.Offset) != channels):
		return nil, fmt.Errorf("%w: %d scales and %d offsets for %d channels",
			ErrWriter, len(values.Scale), len(values.Offset), channels)
	}
	w := &Writer{channels: channels, dtype: dtype, layout: layout, instructions: set}
	if dtype.float() {
		w.prepareFloat32(values)
	}
	return w, nil
}

func (w *Writer) prepareFloat32(values *Affine) {
	var scale, offset [C.PIXEL_MAX_CHANNELS]C.double
	for c := range w.channels {
		scale[c] = 1
		if values != nil {
			scale[c], offset[c] = C.double(values.Scale[c]), C.double(values.Offset[c])
		}
	}
	planar := w.layout == ChannelsFirst && w.dtype == Float32 // halves are separated when they have been made
	C.pixel_prepare_float32(&w.float32, uint32(w.instructions), C.int(w.channels), C.bool(planar), &scale[0], &offset[0])
}

// Bytes returns the size in a batch of a picture of width times height pixels.
func (w *Writer) Bytes(width, height int) int {
	return width * height * w.channels * [...]int{Uint8: 1, Float32: 4, Uint16: 2, Float16: 2, BFloat16: 2}[w.dtype]
}

// Write writes src, which is wide for Uint16 alone, to dst, mirrored left to right where flipX and top to bottom where flipY. The two must not overlap,
// and dst must be Bytes(src.Width, src.Height) long; float32 samples are written faster where dst begins at a multiple
// of 16 bytes. Errors wrap ErrSize and leave dst as it was.
func (w *Writer) Write(dst []byte, src Picture, flipX, flipY bool) error {
	if err := src.check(); err != nil {
		return err
	}
	if src.Channels != w.channels || src.Wide != (w.dtype == Uint16) {
		return fmt.Errorf("%w: picture of %d channels (wide: %t) for a writer of %d", ErrSize, src.Channels, src.Wide, w.channels)
	}
	if size := w.Bytes(src.Width, src.Height); len(dst) != size {
		return fmt.Errorf("%w: picture of %d bytes for a place of %d", ErrSize, size, len(dst))
	}
	batch, picture := start(dst), start(src.Pix)
	stride, width, height := C.size_t(src.Stride), C.size_t(src.Width), C.size_t(src.Height)
	switch w.dtype {
	case Float32:
		C.pixel_write_float32(&w.float32, batch, picture, stride, width, height, C.bool(flipX), C.bool(flipY))
	case Float16, BFloat16:
		C.pixel_write_half(&w.float32, w.dtype.sample(), w.layout == ChannelsFirst,
			batch, picture, stride, width, height, C.bool(flipX), C.bool(flipY))
	case Uint8:
		C.pixel_write_uint8(uint32(w.instructions), C.int(w.channels), w.layout == ChannelsFirst,
			batch, picture, stride, width, height, C.bool(flipX), C.bool(flipY))
	case Uint16:
		writeUint16(dst, src, w.layout == ChannelsFirst, flipX, flipY)
	}
	return nil
}

// check compares by division: no product of sizes may overflow before it is known to fit in Pix.
func (p Picture) check() error {
	fits := p.Width > 0 && p.Height > 0 && p.Channels > 0 &&
		p.Width <= len(p.Pix)/p.PixelBytes() &&
		p.Stride >= p.Width*p.PixelBytes() &&
		p.Height-1 <= (len(p.Pix)-p.Width*p.PixelBytes())/p.Stride
	if !fits {
		return fmt.Errorf("%w: %d by %d pixels of %d channels, rows %d bytes apart, in %d bytes",
			ErrSize, p.Width, p.Height, p.Channels, p.Stride, len(p.Pix))
	}
	return nil
}

func start(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }
