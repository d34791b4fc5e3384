package codec

import (
	"image"
	"unsafe"

	"tfgoloader/gocore/pixel"
)

// Orientation is how a stored picture has to be turned to be upright, by EXIF's numbers 1 to 8.
type Orientation int

// Upright is the orientation of a picture that is stored as it is to be seen.
const Upright Orientation = 1

// A pixel of the upright frame is found in the stored one by exchanging its coordinates, if swaps, and then counting
// them from the other end, if mirrors.
func (o Orientation) swaps() bool { return o >= 5 }
func (o Orientation) mirrors() (x, y bool) {
	return o == 2 || o == 3 || o == 7 || o == 8, o == 3 || o == 4 || o == 6 || o == 7
}

// size is that of the upright frame.
func (o Orientation) size(stored image.Point) image.Point {
	if o.swaps() {
		return image.Pt(stored.Y, stored.X)
	}
	return stored
}

// stored is where a window of the upright frame lies in the stored one.
func (o Orientation) stored(window image.Rectangle, size image.Point) image.Rectangle {
	if o.swaps() {
		window = image.Rect(window.Min.Y, window.Min.X, window.Max.Y, window.Max.X)
	}
	x, y := o.mirrors()
	if x {
		window.Min.X, window.Max.X = size.X-window.Max.X, size.X-window.Min.X
	}
	if y {
		window.Min.Y, window.Max.Y = size.Y-window.Max.Y, size.Y-window.Min.Y
	}
	return window
}

// mover turns pictures upright.
type mover struct{ pix []byte }

// move gives the picture turned, valid until the next call.
func (m *mover) move(p pixel.Picture, o Orientation) pixel.Picture {
	if o == Upright {
		return p
	}
	size := o.size(image.Pt(p.Width, p.Height))
	bytes := p.PixelBytes()
	pix := grow(&m.pix, p.Width*p.Height*bytes)
	switch bytes {
	case 1:
		turn[[1]byte](pix, p, o)
	case 2:
		turn[[2]byte](pix, p, o)
	case 3:
		turn[[3]byte](pix, p, o)
	case 4:
		turn[[4]byte](pix, p, o)
	case 6:
		turn[[6]byte](pix, p, o)
	case 8:
		turn[[8]byte](pix, p, o)
	}
	return pixel.Picture{Pix: pix, Stride: size.X * bytes, Width: size.X, Height: size.Y, Channels: p.Channels, Wide: p.Wide}
}

// turn writes the pixels in the upright order; P is one pixel. The picture's rows begin a whole number of pixels apart.
func turn[P any](to []byte, p pixel.Picture, o Orientation) {
	src, dst := pixels[P](p.Pix), pixels[P](to)
	down := p.Stride / p.PixelBytes()
	along, across, from := 1, down, 0
	x, y := o.mirrors()
	if x {
		from, along = from+p.Width-1, -1
	}
	if y {
		from, across = from+(p.Height-1)*down, -down
	}
	size := o.size(image.Pt(p.Width, p.Height))
	if o.swaps() {
		along, across = across, along
	}
	for row := range size.Y {
		at := from + row*across
		out := dst[row*size.X:][:size.X]
		for i := range out {
			out[i] = src[at]
			at += along
		}
	}
}

// pixels sees bytes as pixels.
func pixels[P any](b []byte) []P {
	var pixel P
	return unsafe.Slice((*P)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(pixel)))
}

// kept is how large a buffer may be to wait for the next picture.
const kept = 64 << 20

// grow makes a buffer of a size, whose bytes are undefined. One that only a giant picture needed is given back.
func grow(buffer *[]byte, size int) []byte {
	if cap(*buffer) < size || cap(*buffer) > kept {
		*buffer = nil // the old one can go before the new one comes
		*buffer = make([]byte, size)
	}
	return (*buffer)[:size]
}
