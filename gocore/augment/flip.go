package augment

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
)

// RandomFlip is keras.layers.RandomFlip: each direction that the mode names is flipped for half of the samples.
type RandomFlip struct {
	Mode string
}

func (f *RandomFlip) String() string { return fmt.Sprintf("RandomFlip(mode=%q)", f.Mode) }

// OutputSize is that of the input.
func (f *RandomFlip) OutputSize(in image.Point) (image.Point, error) {
	switch f.Mode {
	case "horizontal", "vertical", "horizontal_and_vertical":
		return in, nil
	}
	return in, errors.New("the mode is horizontal, vertical or horizontal_and_vertical")
}

// Apply draws for both directions whatever the mode, so that the mode changes nothing else.
func (f *RandomFlip) Apply(plan *Plan, random *rand.Rand) error {
	x, y := random.IntN(2) == 1, random.IntN(2) == 1
	plan.flip(x && f.Mode != "vertical", y && f.Mode != "horizontal")
	return nil
}
