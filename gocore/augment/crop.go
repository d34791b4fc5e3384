package augment

import (
	"fmt"
	"image"
	"math/rand/v2"
)

// window is the size of a crop, which both crops share.
type window struct {
	Height, Width int
}

func (w window) outputSize(in image.Point, name string) (image.Point, error) {
	if w.Height < 1 || w.Width < 1 {
		return in, fmt.Errorf("%s: height and width are at least 1", name)
	}
	if in != (image.Point{}) && (w.Width > in.X || w.Height > in.Y) {
		return in, fmt.Errorf("%s is larger than the %d x %d (height x width) before it", name, in.Y, in.X)
	}
	return image.Pt(w.Width, w.Height), nil
}

// room is how far the crop can move.
func (w window) room(view *View, name string) (image.Point, error) {
	have := view.Window.Size()
	if w.Width > have.X || w.Height > have.Y {
		return image.Point{}, fmt.Errorf("%w: %d x %d (height x width) is smaller than %s", ErrSize, have.Y, have.X, name)
	}
	return image.Pt(have.X-w.Width, have.Y-w.Height), nil
}

// at is the crop at an offset.
func (w window) at(offset image.Point) image.Rectangle {
	return image.Rectangle{offset, offset.Add(image.Pt(w.Width, w.Height))}
}

// RandomCrop is keras.layers.RandomCrop on pictures that are large enough: every place is equally likely.
type RandomCrop struct{ window }

func (c *RandomCrop) String() string {
	return fmt.Sprintf("RandomCrop(height=%d, width=%d)", c.Height, c.Width)
}

// OutputSize is the crop's.
func (c *RandomCrop) OutputSize(in image.Point) (image.Point, error) {
	return c.outputSize(in, c.String())
}

// Apply draws the row, then the column.
func (c *RandomCrop) Apply(view *View, random *rand.Rand) error {
	room, err := c.room(view, c.String())
	if err != nil {
		return err
	}
	y := random.IntN(room.Y + 1)
	x := random.IntN(room.X + 1)
	view.crop(c.at(image.Pt(x, y)))
	return nil
}

// CenterCrop is keras.layers.CenterCrop: an odd margin leaves its larger half below and on the right.
type CenterCrop struct{ window }

func (c *CenterCrop) String() string {
	return fmt.Sprintf("CenterCrop(height=%d, width=%d)", c.Height, c.Width)
}

// OutputSize is the crop's.
func (c *CenterCrop) OutputSize(in image.Point) (image.Point, error) {
	return c.outputSize(in, c.String())
}

// Apply draws nothing.
func (c *CenterCrop) Apply(view *View, _ *rand.Rand) error {
	room, err := c.room(view, c.String())
	if err != nil {
		return err
	}
	view.crop(c.at(room.Div(2)))
	return nil
}
