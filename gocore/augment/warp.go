package augment

import (
	"fmt"
	"image"

	"tfgoloader/gocore/pixel"
)

// warp are the arguments that all operations share which look pixels up by a matrix. They leave the size as it is.
type warp struct {
	filling
	Interpolation string
}

func (w *warp) interpolation() pixel.Interpolation { return interpolations[w.Interpolation] }

func (w *warp) outputSize(in image.Point, name string) (image.Point, error) {
	if w.Interpolation != "nearest" && w.Interpolation != "bilinear" {
		return in, fmt.Errorf("%s: interpolation is nearest or bilinear", name)
	}
	return in, w.check(name)
}

// move applies the matrix, which gives the place in the picture where a pixel of the result comes from.
func (w *warp) move(plan *Plan, matrix pixel.Matrix) { plan.warp(matrix, w.interpolation(), w.fill()) }
