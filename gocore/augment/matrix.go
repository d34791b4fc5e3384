package augment

import (
	"image"

	"tfgoloader/gocore/pixel"
)

var identity = pixel.Matrix{0: 1, 4: 1}

// times looks a place up by m, and what comes out by the matrix that m is applied to; false where that has no such form.
func times(outer, m pixel.Matrix) (pixel.Matrix, bool) {
	a, b := rows(outer), rows(m)
	var product [9]float64
	for row := range 3 {
		for column := range 3 {
			for k := range 3 {
				product[3*row+column] += float64(a[3*row+k] * b[3*k+column])
			}
		}
	}
	return scaled(product)
}

// inverse gives the way back.
func inverse(m pixel.Matrix) (pixel.Matrix, bool) {
	a := rows(m)
	minor := func(i, j, k, l int) float64 { return float64(a[i]*a[j]) - float64(a[k]*a[l]) }
	return scaled([9]float64{
		minor(4, 8, 5, 7), minor(2, 7, 1, 8), minor(1, 5, 2, 4),
		minor(5, 6, 3, 8), minor(0, 8, 2, 6), minor(2, 3, 0, 5),
		minor(3, 7, 4, 6), minor(1, 6, 0, 7), minor(0, 4, 1, 3),
	})
}

func rows(m pixel.Matrix) [9]float64 {
	return [9]float64{m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], 1}
}

// scaled makes the last number 1, which a pixel.Matrix leaves out.
func scaled(full [9]float64) (m pixel.Matrix, ok bool) {
	for i := range m {
		m[i] = full[i] / full[8]
	}
	return m, full[8] > 0 || full[8] < 0
}

// mirror is the view's flips as a matrix.
func (v View) mirror() pixel.Matrix {
	m, size := identity, v.Window.Size()
	if v.FlipX {
		m[0], m[2] = -1, float64(size.X-1)
	}
	if v.FlipY {
		m[4], m[5] = -1, float64(size.Y-1)
	}
	return m
}

// around has a matrix's linear part act around the middle of a picture.
func around(size image.Point, a, b, d, e float64) pixel.Matrix {
	x, y := float64(size.X-1)/2, float64(size.Y-1)/2
	return pixel.Matrix{a, b, x - float64(x*a) - float64(y*b), d, e, y - float64(x*d) - float64(y*e), 0, 0}
}
