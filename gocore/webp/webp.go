// Package webp decodes WebP pictures with libwebp: lossy, lossless, with alpha, and of an animation the first frame.
package webp

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra
// #cgo pkg-config: libwebp
// #cgo noescape tgl_webp_open
// #cgo nocallback tgl_webp_open
// #cgo noescape tgl_webp_read
// #cgo nocallback tgl_webp_read
// #include "shim.h"
// #include <webp/decode.h>
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// What can be wrong with a file; every error of this package wraps one of them.
var (
	ErrCorrupt   = errors.New("corrupt WebP")
	ErrTruncated = errors.New("truncated WebP")
	ErrMemory    = error(syscall.ENOMEM)
	ErrMisuse    = errors.New("misuse of the WebP decoder")
)

// Header is what the file says of itself.
type Header struct {
	Width, Height int    // of the canvas
	Alpha         bool   // some pixels may not be opaque
	Exif          []byte // the EXIF chunk, a part of the data; nil where there is none
}

// frame is where a picture lies on the canvas.
type frame struct {
	data                []byte
	x, y, width, height int
}

// Decoder decodes one picture after another; it serves one goroutine at a time.
type Decoder struct {
	header Header
	frame  frame
	pix    []byte
}

// Open reads the header; data must not change until the next Open.
func (d *Decoder) Open(data []byte) (Header, error) {
	d.header, d.frame = Header{}, frame{}
	if cap(d.pix) > kept {
		d.pix = nil
	}
	size, err := open(data)
	if err != nil {
		return Header{}, err
	}
	d.header = Header{int(size.width), int(size.height), size.alpha != 0, nil}
	d.frame = frame{data, 0, 0, d.header.Width, d.header.Height}
	found := size.animated == 0
	for kind, body := range chunks(data) {
		switch {
		case kind == "EXIF" && d.header.Exif == nil:
			d.header.Exif = body
		case kind == "ANMF" && !found:
			found = true
			if d.frame, err = firstFrame(body, d.header); err != nil {
				return Header{}, err
			}
		}
	}
	if !found {
		return Header{}, fmt.Errorf("%w: an animation without a frame", ErrCorrupt)
	}
	return d.header, nil
}

// kept is how large the buffer may be to wait for the next picture.
const kept = 64 << 20

// chunks goes through the chunks of a file, as far as they are whole.
func chunks(data []byte) func(yield func(kind string, body []byte) bool) {
	return func(yield func(string, []byte) bool) {
		const riffHeader = 12
		for rest := data[min(riffHeader, len(data)):]; len(rest) >= 8; {
			length := int(binary.LittleEndian.Uint32(rest[4:]))
			if length > len(rest)-8 || !yield(string(rest[:4]), rest[8:8+length]) {
				return
			}
			rest = rest[min(8+length+length%2, len(rest)):]
		}
	}
}

// firstFrame reads an ANMF chunk: where the frame lies, then the frame itself.
func firstFrame(body []byte, canvas Header) (frame, error) {
	const frameHeader = 16
	if len(body) < frameHeader {
		return frame{}, fmt.Errorf("%w: the frame's header is cut", ErrTruncated)
	}
	number := func(at int) int { return int(body[at]) | int(body[at+1])<<8 | int(body[at+2])<<16 }
	f := frame{body[frameHeader:], 2 * number(0), 2 * number(3), 1 + number(6), 1 + number(9)}
	size, err := open(f.data)
	if err != nil {
		return frame{}, err
	}
	if int(size.width) != f.width || int(size.height) != f.height || f.x+f.width > canvas.Width || f.y+f.height > canvas.Height {
		return frame{}, fmt.Errorf("%w: a frame of %d x %d at (%d, %d) on a canvas of %d x %d (width x height)",
			ErrCorrupt, size.width, size.height, f.x, f.y, canvas.Width, canvas.Height)
	}
	return f, nil
}

func open(data []byte) (size C.tgl_webp_size, err error) {
	if len(data) == 0 {
		return size, failure(C.VP8_STATUS_NOT_ENOUGH_DATA)
	}
	return size, failure(C.tgl_webp_open((*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)), &size))
}

// Read decodes the whole canvas of the picture that was opened last: its pixels of 3 (RGB) or 4 channels (RGBA), row
// after row without gaps, valid until the decoder's next call. What the first frame of an animation leaves uncovered is
// black and transparent.
func (d *Decoder) Read(channels int) ([]byte, error) {
	if d.frame.data == nil || channels != 3 && channels != 4 {
		return nil, fmt.Errorf("%w: nothing is open, or %d channels", ErrMisuse, channels)
	}
	stride := d.header.Width * channels
	size := stride * d.header.Height
	if cap(d.pix) < size {
		d.pix = nil // the old one can go before the new one comes
		d.pix = make([]byte, size)
	}
	pix, f := d.pix[:size], d.frame
	if f.width != d.header.Width || f.height != d.header.Height {
		clear(pix)
	}
	place := pix[f.y*stride+f.x*channels:]
	err := failure(C.tgl_webp_read((*C.uint8_t)(unsafe.SliceData(f.data)), C.size_t(len(f.data)), C.int(channels-3),
		(*C.uint8_t)(unsafe.SliceData(place)), C.size_t(stride), C.size_t(len(place))))
	if err != nil {
		return nil, err
	}
	return pix, nil
}

func failure(status C.int) error {
	switch status {
	case C.VP8_STATUS_OK:
		return nil
	case C.VP8_STATUS_OUT_OF_MEMORY:
		return ErrMemory
	case C.VP8_STATUS_INVALID_PARAM:
		return fmt.Errorf("%w: invalid parameter", ErrMisuse)
	case C.VP8_STATUS_SUSPENDED, C.VP8_STATUS_NOT_ENOUGH_DATA:
		return fmt.Errorf("%w: the data ends too early", ErrTruncated)
	case C.VP8_STATUS_UNSUPPORTED_FEATURE:
		return fmt.Errorf("%w: an unsupported feature", ErrCorrupt)
	default:
		return fmt.Errorf("%w: invalid bitstream", ErrCorrupt)
	}
}
