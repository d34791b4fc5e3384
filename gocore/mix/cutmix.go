package mix

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"tfgoloader/gocore/sample"
)

// CutMix is keras.layers.CutMix: one alpha for the batch is drawn from the factor's range, and of the law Beta(alpha, alpha)
// for every sample the share of its area that it keeps. The rest is one rectangle of the picture's own aspect ratio,
// anywhere in it. Its sides end between pixels, so that the weight is counted in whole ones.
type CutMix struct{ Factor [2]float64 }

func (c *CutMix) String() string { return fmt.Sprintf("CutMix(factor=%v)", c.Factor) }

func (c *CutMix) check() error {
	if !(c.Factor[0] >= 0 && c.Factor[0] <= c.Factor[1] && c.Factor[1] <= 1) {
		return fmt.Errorf("%w: %s: the factor's range ascends, from 0 to 1 at most", ErrConfig, c)
	}
	return nil
}

const leastAlpha = 1e-6 // Keras adds it, since there is no law Beta(0, 0)

// Draw draws alpha and the permutation, then for each sample the area and the place.
func (c *CutMix) Draw(random *rand.Rand, samples int, size image.Point) []Share {
	alpha := c.Factor[0] + (c.Factor[1]-c.Factor[0])*random.Float64() + leastAlpha
	shares := make([]Share, samples)
	for slot, partner := range random.Perm(samples) {
		side := math.Sqrt(1 - sample.Beta(random, alpha))
		left, right := interval(random, size.X, side)
		top, bottom := interval(random, size.Y, side)
		part := image.Rect(left, top, right, bottom)
		replaced := float64(part.Dx()*part.Dy()) / float64(size.X*size.Y)
		shares[slot] = Share{Partner: partner, Weight: float32(1 - replaced), Part: part}
	}
	return shares
}

// interval is where a share of a length lies in it, by the pixels whose coordinates are within.
func interval(random *rand.Rand, length int, share float64) (first, end int) {
	part := share * float64(length)
	start := random.Float64() * (float64(length) - part)
	return int(math.Ceil(start)), min(length, int(math.Ceil(start+part)))
}
