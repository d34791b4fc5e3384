package augment

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// window is the size of a crop, which both crops share.
type window struct {
	Height, Width int
}

// OutputSize is the window's.
func (w window) OutputSize(in image.Point) (image.Point, error) {
	if w.Height < 1 || w.Width < 1 {
		return in, errors.New("height and width are at least 1")
	}
	if in != (image.Point{}) && (w.Width > in.X || w.Height > in.Y) {
		return in, fmt.Errorf("larger than the %d x %d (height x width) before it", in.Y, in.X)
	}
	return image.Pt(w.Width, w.Height), nil
}

// fits tells whether a picture is large enough.
func (w window) fits(size image.Point) bool { return w.Width <= size.X && w.Height <= size.Y }

func (w window) tooSmall(size image.Point, name string) error {
	return fmt.Errorf("%w: %d x %d (height x width) is smaller than %s", ErrSize, size.Y, size.X, name)
}

// at is the crop at an offset.
func (w window) at(offset image.Point) image.Rectangle {
	return image.Rectangle{offset, offset.Add(image.Pt(w.Width, w.Height))}
}

// inside is the largest part in the middle of a picture that has the window's aspect ratio, rounded as Keras rounds it.
func (w window) inside(size image.Point) image.Rectangle {
	height := max(1, min(size.Y, int(float64(size.X)*float64(w.Height)/float64(w.Width))))
	width := max(1, min(size.X, int(float64(size.Y)*float64(w.Width)/float64(w.Height))))
	return centred(size, width, height)
}

// RandomCrop is keras.layers.RandomCrop: every place is equally likely. What is done with a picture that is too small is
// a choice: an error, Keras' resizing of the part that has the window's aspect ratio, or torchvision's padding on either
// side.
type RandomCrop struct {
	window
	filling
	IfSmaller string `json:"if_smaller"`
}

func (c *RandomCrop) String() string {
	return fmt.Sprintf("RandomCrop(height=%d, width=%d)", c.Height, c.Width)
}

// OutputSize is the crop's.
func (c *RandomCrop) OutputSize(in image.Point) (image.Point, error) {
	switch c.IfSmaller {
	case "error":
		return c.window.OutputSize(in)
	case "pad", "resize":
		if err := c.filling.check(); err != nil {
			return in, err
		}
		return c.window.OutputSize(image.Point{})
	}
	return in, errors.New("if_smaller is error, resize or pad")
}

func (c *RandomCrop) levels() bool { return c.IfSmaller == "pad" && c.filling.levels() }

// Apply draws the row, then the column.
func (c *RandomCrop) Apply(plan *Plan, random *rand.Rand) error {
	size := plan.Size()
	if !c.fits(size) {
		switch c.IfSmaller {
		case "resize":
			plan.crop(c.inside(size))
			plan.resample(image.Pt(c.Width, c.Height), pixel.Resampling{Interpolation: pixel.Bilinear})
		case "pad":
			x, y := max(0, c.Width-size.X), max(0, c.Height-size.Y)
			plan.border(pixel.Border{Left: x, Right: x, Top: y, Bottom: y, Fill: c.fill()})
		default:
			return c.tooSmall(size, c.String())
		}
		size = plan.Size()
	}
	y := random.IntN(size.Y - c.Height + 1)
	x := random.IntN(size.X - c.Width + 1)
	plan.crop(c.at(image.Pt(x, y)))
	return nil
}

// CenterCrop is keras.layers.CenterCrop: an odd margin leaves its larger half below and on the right.
type CenterCrop struct{ window }

func (c *CenterCrop) String() string {
	return fmt.Sprintf("CenterCrop(height=%d, width=%d)", c.Height, c.Width)
}

// Apply draws nothing.
func (c *CenterCrop) Apply(plan *Plan, _ *rand.Rand) error {
	size := plan.Size()
	if !c.fits(size) {
		return c.tooSmall(size, c.String())
	}
	plan.crop(centred(size, c.Width, c.Height))
	return nil
}
