package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// RandomShear is keras.layers.RandomShear: rows move by a share of their distance to the top, columns by a share of
// theirs to the left; half of the pictures the other way.
type RandomShear struct {
	warp
	X interval `json:"x_factor"`
	Y interval `json:"y_factor"`
}

func (r *RandomShear) String() string {
	return fmt.Sprintf("RandomShear(x_factor=%v, y_factor=%v)", r.X, r.Y)
}

// Apply draws the direction, then the share for columns, then that for rows.
func (r *RandomShear) Apply(plan *Plan, random *rand.Rand) error {
	direction := 1.0
	if random.Float64() > 0.5 {
		direction = -1
	}
	y := direction * r.Y.draw(random)
	x := direction * r.X.draw(random)
	r.move(plan, pixel.Matrix{0: 1, 1: x, 3: y, 4: 1})
	return nil
}
