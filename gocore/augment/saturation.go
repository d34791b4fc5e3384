package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// RandomSaturation is keras.layers.RandomSaturation: the saturation is multiplied by f / (1 - f), f drawn from Factor.
type RandomSaturation struct {
	Factor interval
	chance
}

func (r *RandomSaturation) String() string {
	return fmt.Sprintf("RandomSaturation(factor=%v)", r.Factor)
}

// Draw draws f.
func (r *RandomSaturation) Draw(random *rand.Rand) Filter {
	if !r.happens(random) {
		return nil
	}
	return saturate(r.Factor.draw(random))
}

func saturate(f float64) Filter {
	const epsilon = 1e-7 // Keras' own
	factor := f / (1 - f + epsilon)
	return &pointwise{func(picture pixel.Picture) { pixel.Saturate(picture, factor) }, parameters{{"saturation", factor}}}
}
