package augment

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// RandomRotation is keras.layers.RandomRotation: around the middle, by a share of a full turn, drawn from Factor.
// Counter-clockwise is positive.
type RandomRotation struct {
	warp
	Factor interval
}

func (r *RandomRotation) String() string { return fmt.Sprintf("RandomRotation(factor=%v)", r.Factor) }

// Apply draws the share.
func (r *RandomRotation) Apply(plan *Plan, random *rand.Rand) error {
	sin, cos := math.Sincos(2 * math.Pi * r.Factor.draw(random))
	r.move(plan, around(plan.Size(), cos, -sin, sin, cos))
	return nil
}
