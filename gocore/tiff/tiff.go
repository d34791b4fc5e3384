// Package tiff decodes the first picture of a TIFF file with libtiff: gray, palette and RGB of 1 to 16 bits, with or
// without alpha, in strips or tiles.
package tiff

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra
// #cgo pkg-config: libtiff-4
// #cgo noescape tgl_tiff_open
// #cgo nocallback tgl_tiff_open
// #cgo noescape tgl_tiff_read
// #cgo nocallback tgl_tiff_read
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"image"
	"syscall"
	"unsafe"
)

// What can be wrong with a file; every error of this package wraps one of them.
var (
	ErrCorrupt = errors.New("corrupt or unsupported TIFF")
	ErrMemory  = error(syscall.ENOMEM)
	ErrMisuse  = errors.New("misuse of the TIFF decoder")
)

// Header is what the file says of itself.
type Header struct {
	Width, Height int
	Alpha         bool // some pixels may not be opaque
	Premultiplied bool // and the stored colours are multiplied by it; Read divides where 4 channels are asked for
	Orientation   int  // as the file has it
}

// Form is what is asked of Read: 3 channels (RGB) or 4 (RGBA), of 8 bits or of 16 in native byte order.
type Form struct {
	Channels int
	Wide     bool
}

// Decoder decodes one picture after another; it serves one goroutine at a time.
type Decoder struct {
	data   []byte
	header Header
	pix    []byte
}

// kept is how large the buffer may be to wait for the next picture.
const kept = 64 << 20

// Open reads the first directory; data must not change until the next Open.
func (d *Decoder) Open(data []byte) (Header, error) {
	d.data, d.header = nil, Header{}
	if cap(d.pix) > kept {
		d.pix = nil
	}
	if len(data) == 0 {
		return Header{}, fmt.Errorf("%w: empty file", ErrCorrupt)
	}
	var header C.tgl_tiff_header
	var message [C.TGL_TIFF_MESSAGE]C.char
	if err := failure(C.tgl_tiff_open((*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data)), &header, &message[0]), &message); err != nil {
		return Header{}, err
	}
	d.data = data
	d.header = Header{int(header.width), int(header.height), header.alpha != 0, header.alpha == 2, int(header.orientation)}
	return d.header, nil
}

// Read decodes a window of the picture that was opened last: its pixels, row after row without gaps, valid until the
// decoder's next call. All rows are decoded, so whether a file is damaged does not depend on the window.
func (d *Decoder) Read(window image.Rectangle, form Form) ([]byte, error) {
	if d.data == nil || window.Empty() || !window.In(image.Rect(0, 0, d.header.Width, d.header.Height)) ||
		form.Channels != 3 && form.Channels != 4 {
		return nil, fmt.Errorf("%w: nothing is open, or window %v of form %v cannot be", ErrMisuse, window, form)
	}
	request := C.tgl_tiff_request{
		x: C.uint32_t(window.Min.X), y: C.uint32_t(window.Min.Y), width: C.uint32_t(window.Dx()), height: C.uint32_t(window.Dy()),
		channels: C.int(form.Channels),
	}
	size := window.Dx() * window.Dy() * form.Channels
	if form.Wide {
		request.wide = 1
		size *= 2
	}
	if cap(d.pix) < size {
		d.pix = nil // the old one can go before the new one comes
		d.pix = make([]byte, size)
	}
	pix := d.pix[:size]
	var message [C.TGL_TIFF_MESSAGE]C.char
	status := C.tgl_tiff_read((*C.uint8_t)(unsafe.SliceData(d.data)), C.size_t(len(d.data)), &request,
		(*C.uint8_t)(unsafe.SliceData(pix)), &message[0])
	if err := failure(status, &message); err != nil {
		return nil, err
	}
	return pix, nil
}

func failure(status C.int, message *[C.TGL_TIFF_MESSAGE]C.char) error {
	var kind error
	switch status {
	case C.TGL_TIFF_OK:
		return nil
	case C.TGL_TIFF_NO_MEMORY:
		kind = ErrMemory
	case C.TGL_TIFF_MISUSE:
		kind = ErrMisuse
	default:
		kind = ErrCorrupt
	}
	return fmt.Errorf("%w: %s", kind, C.GoString(&message[0]))
}
