package augment

import (
	"fmt"
	"math/rand/v2"
)

// RandomColorDegeneration is keras.layers.RandomColorDegeneration: a blend with gray, whose share is drawn from Factor.
type RandomColorDegeneration struct {
	Factor interval
	chance
}

func (r *RandomColorDegeneration) String() string {
	return fmt.Sprintf("RandomColorDegeneration(factor=%v)", r.Factor)
}

// Draw draws the share.
func (r *RandomColorDegeneration) Draw(random *rand.Rand) Filter {
	if !r.happens(random) {
		return nil
	}
	return fade(r.Factor.draw(random))
}
