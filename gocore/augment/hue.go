package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// RandomHue is keras.layers.RandomHue: the hue is turned by up to half of the circle times Factor, either way round.
type RandomHue struct {
	Factor interval
	chance
}

func (r *RandomHue) String() string { return fmt.Sprintf("RandomHue(factor=%v)", r.Factor) }

// Draw draws the direction, then the factor.
func (r *RandomHue) Draw(random *rand.Rand) Filter {
	if !r.happens(random) {
		return nil
	}
	direction := 0.5
	if random.IntN(2) == 1 {
		direction = -0.5
	}
	return turn(direction * r.Factor.draw(random))
}

func turn(turns float64) Filter {
	return &pointwise{func(picture pixel.Picture) { pixel.TurnHue(picture, turns) }, parameters{{"hue", turns}}}
}
