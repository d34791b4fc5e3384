package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// RandomTranslation is keras.layers.RandomTranslation: by shares of the height and of the width. Down and right are
// positive.
type RandomTranslation struct {
	warp
	Height interval `json:"height_factor"`
	Width  interval `json:"width_factor"`
}

func (r *RandomTranslation) String() string {
	return fmt.Sprintf("RandomTranslation(height_factor=%v, width_factor=%v)", r.Height, r.Width)
}

// Apply draws the share of the height, then that of the width.
func (r *RandomTranslation) Apply(plan *Plan, random *rand.Rand) error {
	size := plan.Size()
	y := r.Height.draw(random) * float64(size.Y)
	x := r.Width.draw(random) * float64(size.X)
	r.move(plan, pixel.Matrix{0: 1, 2: -x, 4: 1, 5: -y})
	return nil
}
