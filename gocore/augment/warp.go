package augment

import (
	"errors"
	"image"

	"tfgoloader/gocore/pixel"
)

// warp are the arguments that all operations share which look pixels up by a matrix. They leave the size as it is.
type warp struct {
	filling
	Interpolation string
}

func (w *warp) interpolation() pixel.Interpolation { return interpolations[w.Interpolation] }

// OutputSize is that of the input.
func (w *warp) OutputSize(in image.Point) (image.Point, error) {
	if w.Interpolation != "nearest" && w.Interpolation != "bilinear" {
		return in, errors.New("interpolation is nearest or bilinear")
	}
	return in, w.check()
}

// move applies the matrix, which gives the place in the picture where a pixel of the result comes from.
func (w *warp) move(plan *Plan, matrix pixel.Matrix) { plan.warp(matrix, w.interpolation(), w.fill()) }
