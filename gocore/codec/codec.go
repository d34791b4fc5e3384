// Package codec turns the bytes of a file into pixels: the content decides the format, never the name.
package codec

import (
	"errors"
	"fmt"
	"image"

	"tfgoloader/gocore/jpeg"
	"tfgoloader/gocore/pixel"
)

var (
	// ErrFormat is a file that is no picture, or one of a format that is not supported.
	ErrFormat = errors.New("unknown picture format")
	// ErrTooLarge is a picture over the limit of pixels.
	ErrTooLarge = errors.New("picture too large")
)

// Options are the same for every picture of a loader.
type Options struct {
	DCT       jpeg.DCT
	MaxPixels int64 // width times height, checked before the pixels are allocated
}

// Decoder decodes one picture after another; it serves one goroutine at a time and must be closed.
type Decoder struct {
	options Options
	jpeg    *jpeg.Decoder
}

// NewDecoder makes a decoder.
func NewDecoder(options Options) (*Decoder, error) {
	d, err := jpeg.NewDecoder()
	if err != nil {
		return nil, err
	}
	return &Decoder{options: options, jpeg: d}, nil
}

// Close frees the decoder and the pixels it gave out.
func (d *Decoder) Close() { d.jpeg.Close() }

// Open reads the header and gives the size; data must not change until the next Open.
func (d *Decoder) Open(data []byte) (image.Point, error) {
	if err := check(data); err != nil {
		return image.Point{}, err
	}
	header, err := d.jpeg.Open(data)
	if err != nil {
		return image.Point{}, err
	}
	if int64(header.Width)*int64(header.Height) > d.options.MaxPixels {
		return image.Point{}, fmt.Errorf("%w: %d x %d pixels (width x height), the limit is %d pixels in all",
			ErrTooLarge, header.Width, header.Height, d.options.MaxPixels)
	}
	return image.Pt(header.Width, header.Height), nil
}

// Read decodes a window of the picture opened last; the pixels are valid until the next call.
func (d *Decoder) Read(window image.Rectangle) (pixel.Picture, error) {
	rows, err := d.jpeg.Read(window, d.options.DCT)
	if err != nil {
		return pixel.Picture{}, err
	}
	return pixel.Picture{Pix: rows.Pix, Stride: rows.Stride, Width: window.Dx(), Height: window.Dy(), Channels: 3}, nil
}
