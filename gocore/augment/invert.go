package augment

import (
	"fmt"
	"math/rand/v2"
)

// RandomInvert is keras.layers.RandomInvert: with a probability that is itself drawn from Factor, x becomes 255 - x.
type RandomInvert struct{ Factor interval }

func (r *RandomInvert) String() string { return fmt.Sprintf("RandomInvert(factor=%v)", r.Factor) }

// Draw draws the probability, then whether.
func (r *RandomInvert) Draw(random *rand.Rand) Filter {
	if !r.Factor.happens(random) {
		return nil
	}
	return invert()
}

func invert() Filter { return &fixed{tabulate(func(x float64) float64 { return 255 - x }), nil} }
