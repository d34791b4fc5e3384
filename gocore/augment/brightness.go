package augment

import (
	"fmt"
	"math/rand/v2"
)

// RandomBrightness is keras.layers.RandomBrightness: a share of 255, drawn from Factor, is added to every value.
type RandomBrightness struct {
	Factor interval
	chance
}

func (b *RandomBrightness) String() string {
	return fmt.Sprintf("RandomBrightness(factor=%v)", b.Factor)
}

// Draw draws the share.
func (b *RandomBrightness) Draw(random *rand.Rand) Filter {
	if !b.happens(random) {
		return nil
	}
	return brighten(b.Factor.draw(random))
}

func brighten(share float64) Filter {
	return &fixed{tabulate(func(x float64) float64 { return x + share*255 }), parameters{{"brightness", share}}}
}
