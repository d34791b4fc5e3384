// Package jpeg decodes JPEG pictures, whole or a window of them, with libjpeg-turbo.
package jpeg

// #cgo CFLAGS: -O2 -Wall -Wextra
// #cgo pkg-config: libjpeg
// #cgo noescape tgl_jpeg_open
// #cgo nocallback tgl_jpeg_open
// #cgo noescape tgl_jpeg_read
// #cgo nocallback tgl_jpeg_read
// #include "shim.h"
// #include <stdio.h>
// #include <jpeglib.h>
// #define TGL_STRING2(x) #x
// #define TGL_STRING(x) TGL_STRING2(x)
// static const char *tgl_jpeg_version(void) { return TGL_STRING(LIBJPEG_TURBO_VERSION); }
import "C"

import (
	"errors"
	"fmt"
	"image"
	"runtime"
	"syscall"
	"unsafe"
)

// What can be wrong with a file; every error of this package wraps one of them.
var (
	ErrCorrupt   = errors.New("corrupt or unsupported JPEG")
	ErrTruncated = errors.New("truncated JPEG")
	ErrMemory    = error(syscall.ENOMEM)
	ErrMisuse    = errors.New("misuse of the JPEG decoder")
)

// Error is a failure to decode: the kind, and libjpeg's own words.
type Error struct {
	Kind   error
	Reason string
}

func (e *Error) Error() string { return e.Reason }
func (e *Error) Unwrap() error { return e.Kind }

// DCT is the inverse transform: Accurate is bit-equal to TensorFlow's INTEGER_ACCURATE, Fast to its INTEGER_FAST.
type DCT int

const (
	Accurate DCT = iota
	Fast
)

// Header is what the file says of itself before the first scan.
type Header struct {
	Width, Height, Components int
}

// Options are the same for every picture of a decoder.
type Options struct {
	DCT             DCT
	Channels        int  // 3: RGB, 1: gray
	AcceptTruncated bool // what is missing of a file is filled, as TensorFlow's try_recover_truncated does
}

// Rows are the pixels of a window, interleaved, valid until the decoder's next call.
type Rows struct {
	Pix    []byte
	Stride int
}

// Decoder decodes one picture after another; it serves one goroutine at a time and must be closed.
type Decoder struct {
	options Options
	c       *C.tgl_jpeg
	pin     runtime.Pinner // the compressed bytes, which libjpeg reads between two calls
}

// NewDecoder makes a decoder.
func NewDecoder(options Options) (*Decoder, error) {
	if options.Channels != 1 && options.Channels != 3 {
		return nil, fmt.Errorf("jpeg: %w: %d channels, not 1 or 3", ErrMisuse, options.Channels)
	}
	c := C.tgl_jpeg_new()
	if c == nil {
		return nil, fmt.Errorf("jpeg: new decoder: %w", ErrMemory)
	}
	return &Decoder{options: options, c: c}, nil
}

// Close frees the decoder.
func (d *Decoder) Close() {
	d.pin.Unpin()
	C.tgl_jpeg_free(d.c)
	d.c = nil
}

// Open reads the header of a file; data must not change until the next Open.
func (d *Decoder) Open(data []byte) (Header, error) {
	d.pin.Unpin()
	if len(data) == 0 {
		return Header{}, &Error{ErrTruncated, "empty file (0 bytes)"}
	}
	d.pin.Pin(unsafe.SliceData(data))
	var size C.tgl_jpeg_size
	acceptTruncated := C.int(0)
	if d.options.AcceptTruncated {
		acceptTruncated = 1
	}
	status := C.tgl_jpeg_open(d.c, (*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)), acceptTruncated, &size)
	if err := d.failure(status); err != nil {
		return Header{}, err
	}
	return Header{int(size.width), int(size.height), int(size.components)}, nil
}

// Read decodes a window of the picture that was opened last, once for every Open.
func (d *Decoder) Read(window image.Rectangle) (Rows, error) {
	if window.Min.X < 0 || window.Min.Y < 0 || window.Empty() {
		return Rows{}, &Error{ErrMisuse, fmt.Sprintf("the window %v is empty or reaches out of the picture", window)}
	}
	c := C.tgl_jpeg_window{
		x: C.uint32_t(window.Min.X), y: C.uint32_t(window.Min.Y),
		width: C.uint32_t(window.Dx()), height: C.uint32_t(window.Dy()),
	}
	var rows C.tgl_jpeg_rows
	if err := d.failure(C.tgl_jpeg_read(d.c, &c, C.int(d.options.DCT), C.int(d.options.Channels), &rows)); err != nil {
		return Rows{}, err
	}
	stride := int(rows.stride)
	size := stride*(window.Dy()-1) + d.options.Channels*window.Dx()
	return Rows{unsafe.Slice((*byte)(rows.pixels), size), stride}, nil
}

// Warnings is how many times libjpeg found something odd since the last Open, and went on.
func (d *Decoder) Warnings() int { return int(C.tgl_jpeg_warnings(d.c)) }

func (d *Decoder) failure(status C.int) error {
	var kind error
	switch status {
	case C.TGL_JPEG_OK:
		return nil
	case C.TGL_JPEG_TRUNCATED:
		kind = ErrTruncated
	case C.TGL_JPEG_NO_MEMORY:
		kind = ErrMemory
	case C.TGL_JPEG_MISUSE:
		kind = ErrMisuse
	default:
		kind = ErrCorrupt
	}
	return &Error{kind, C.GoString(C.tgl_jpeg_message(d.c))}
}

// Version is that of libjpeg-turbo's headers this package was built with.
func Version() string { return C.GoString(C.tgl_jpeg_version()) }
