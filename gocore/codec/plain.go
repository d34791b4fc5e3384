package codec

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"

	"golang.org/x/image/bmp"

	"tfgoloader/gocore/pixel"
)

// ErrCorrupt is a damaged file of one of the formats that Go libraries decode.
var ErrCorrupt = errors.New("corrupt or unsupported")

// plainFormat is what GIF and BMP share: files without orientation, decoded whole by a Go library.
type plainFormat struct {
	options Options
	data    []byte
	pix     []byte
}

func (f *plainFormat) warnings() int { return 0 }
func (f *plainFormat) close()        {}

// guard turns a library's failure, or its panic, into an error that names the format.
func guard(name string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w %s: the decoder failed: %v", ErrCorrupt, name, r)
	} else if *err != nil {
		*err = fmt.Errorf("%w %s: %w", ErrCorrupt, name, *err)
	}
}

// show gives what the window shows of a picture that lies somewhere on the canvas; what it does not cover is black and
// transparent.
func (f *plainFormat) show(picture image.Image, window image.Rectangle) (pixel.Picture, error) {
	channels := f.options.channels(true)
	out := dense(grow(&f.pix, window.Dx()*window.Dy()*channels), window.Size(), channels, false)
	covered := picture.Bounds().Intersect(window)
	if covered != window {
		clear(out.Pix)
	}
	var row func(y int) []byte // the covered pixels of a row
	step := 4                  // bytes of one
	switch p := picture.(type) {
	case *image.RGBA:
		row = func(y int) []byte { return p.Pix[p.PixOffset(covered.Min.X, y):][:4*covered.Dx()] }
	case *image.NRGBA:
		row = func(y int) []byte { return p.Pix[p.PixOffset(covered.Min.X, y):][:4*covered.Dx()] }
	case *image.Paletted:
		if f.options.Indices {
			step = 1
			row = func(y int) []byte { return p.Pix[p.PixOffset(covered.Min.X, y):][:covered.Dx()] }
			break
		}
		var table [256][4]byte
		for i, entry := range p.Palette {
			c := color.NRGBAModel.Convert(entry).(color.NRGBA)
			table[i] = [4]byte{c.R, c.G, c.B, c.A}
		}
		looked := make([]byte, 4*covered.Dx())
		row = func(y int) []byte {
			for x, index := range p.Pix[p.PixOffset(covered.Min.X, y):][:covered.Dx()] {
				copy(looked[4*x:], table[index][:])
			}
			return looked
		}
	default:
		return pixel.Picture{}, fmt.Errorf("unexpected picture %T", picture)
	}
	for y := covered.Min.Y; y < covered.Max.Y; y++ {
		to := out.Pix[(y-window.Min.Y)*out.Stride+(covered.Min.X-window.Min.X)*channels:]
		from := row(y)
		for x := range covered.Dx() {
			copy(to[x*channels:][:channels], from[step*x:])
		}
	}
	return out, nil
}

// gifFormat decodes the first frame, on its canvas.
type gifFormat struct{ plainFormat }

func (f *gifFormat) open(data []byte) (h header, err error) {
	defer guard("GIF", &err)
	config, err := gif.DecodeConfig(bytes.NewReader(data))
	f.data = data
	return header{image.Pt(config.Width, config.Height), Upright, true}, err
}

func (f *gifFormat) read(window image.Rectangle) (p pixel.Picture, err error) {
	defer guard("GIF", &err)
	picture, err := gif.Decode(bytes.NewReader(f.data))
	if err != nil {
		return pixel.Picture{}, err
	}
	return f.show(picture, window)
}

type bmpFormat struct {
	plainFormat
	size image.Point
	bits int // of a pixel, at least
}

func (f *bmpFormat) open(data []byte) (h header, err error) {
	defer guard("BMP", &err)
	config, err := bmp.DecodeConfig(bytes.NewReader(data))
	f.data, f.size, f.bits = data, image.Pt(config.Width, config.Height), 24
	_, paletted := config.ColorModel.(color.Palette)
	if paletted {
		f.bits = 1
	}
	return header{f.size, Upright, paletted}, err
}

func (f *bmpFormat) read(window image.Rectangle) (p pixel.Picture, err error) {
	defer guard("BMP", &err)
	// Before the library allocates what a damaged header claims.
	if len(f.data) < f.size.X*f.size.Y/8*f.bits {
		return pixel.Picture{}, fmt.Errorf("truncated: %d bytes", len(f.data))
	}
	picture, err := bmp.Decode(bytes.NewReader(f.data))
	if err != nil {
		return pixel.Picture{}, err
	}
	return f.show(picture, window)
}
