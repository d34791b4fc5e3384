package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// RandomGrayscale is keras.layers.RandomGrayscale: with probability Factor all channels become gray.
type RandomGrayscale struct{ Factor float64 }

func (r *RandomGrayscale) String() string { return fmt.Sprintf("RandomGrayscale(factor=%v)", r.Factor) }

// Draw draws whether.
func (r *RandomGrayscale) Draw(random *rand.Rand) Filter {
	if random.Float64() >= r.Factor {
		return nil
	}
	return fade(1)
}

func fade(amount float64) Filter {
	return &pointwise{func(picture pixel.Picture) { pixel.Fade(picture, amount) }, parameters{{"gray", amount}}}
}
