package mix

import (
	"fmt"
	"image"
	"math/rand/v2"

	"tfgoloader/gocore/sample"
)

// MixUp is keras.layers.MixUp: every sample has a weight of its own, of the law Beta(alpha, alpha).
type MixUp struct{ Alpha float64 }

func (m *MixUp) String() string { return fmt.Sprintf("MixUp(alpha=%v)", m.Alpha) }

func (m *MixUp) check() error {
	if !(m.Alpha > 0) {
		return fmt.Errorf("%w: %s: alpha is above 0", ErrConfig, m)
	}
	return nil
}

// Draw draws the permutation, then the weights.
func (m *MixUp) Draw(random *rand.Rand, samples int, _ image.Point) []Share {
	shares := make([]Share, samples)
	for slot, partner := range random.Perm(samples) {
		shares[slot] = Share{Partner: partner, Weight: float32(sample.Beta(random, m.Alpha))}
	}
	return shares
}
