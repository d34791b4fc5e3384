package augment

import (
	"fmt"
	"image"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// RandomPerspective is keras.layers.RandomPerspective: with a probability that is itself drawn from Factor, the picture's
// corners move by shares, from -Scale/2 to Scale/2, of their coordinates, so that the upper left one stays.
type RandomPerspective struct {
	warp
	Factor interval
	Scale  float64
}

func (r *RandomPerspective) String() string {
	return fmt.Sprintf("RandomPerspective(factor=%v, scale=%v)", r.Factor, r.Scale)
}

// Apply draws the probability, whether, and then the shares, x before y, of the corners: upper left, upper right, lower
// left, lower right.
func (r *RandomPerspective) Apply(plan *Plan, random *rand.Rand) error {
	if !r.Factor.happens(random) {
		return nil
	}
	size := plan.Size()
	var corners [4]point
	for i := range corners {
		corner := point{float64(i%2) * float64(size.X-1), float64(i/2) * float64(size.Y-1)}
		share := interval{-r.Scale / 2, r.Scale / 2}
		corners[i].x = corner.x * (1 + share.draw(random))
		corners[i].y = corner.y * (1 + share.draw(random))
	}
	if matrix, ok := straighten(size, corners); ok {
		r.move(plan, matrix)
	}
	return nil
}

// straighten maps four points, as Apply has them, to the centres of a picture's corner pixels; false where they are in a
// line. P. S. Heckbert, Fundamentals of Texture Mapping and Image Warping (1989), section 2.2.3.
func straighten(size image.Point, corners [4]point) (pixel.Matrix, bool) {
	a, b, d, c := corners[0], corners[1], corners[2], corners[3] // around the picture
	minus := func(p, q point) point { return point{p.x - q.x, p.y - q.y} }
	cross := func(p, q point) float64 { return float64(p.x*q.y) - float64(p.y*q.x) }
	right, lower := minus(b, c), minus(d, c)
	rest := minus(minus(a, b), minus(d, c))
	determinant := cross(right, lower)
	if determinant == 0 || size.X == 1 || size.Y == 1 {
		return identity, false
	}
	g, h := cross(rest, lower)/determinant, cross(right, rest)/determinant
	fromSquare := pixel.Matrix{
		b.x - a.x + g*b.x, d.x - a.x + h*d.x, a.x,
		b.y - a.y + g*b.y, d.y - a.y + h*d.y, a.y,
		g, h,
	}
	toSquare, ok := inverse(fromSquare)
	if !ok {
		return identity, false
	}
	return times(pixel.Matrix{0: float64(size.X - 1), 4: float64(size.Y - 1)}, toSquare)
}
