package augment

import (
	"fmt"
	"math/rand/v2"
)

// RandomZoom is keras.layers.RandomZoom: around the middle; positive factors zoom out. Without Width the aspect ratio
// stays.
type RandomZoom struct {
	warp
	Height interval  `json:"height_factor"`
	Width  *interval `json:"width_factor"`
}

func (r *RandomZoom) String() string {
	return fmt.Sprintf("RandomZoom(height_factor=%v, width_factor=%v)", r.Height, r.Width)
}

// Apply draws the height's factor, then the width's.
func (r *RandomZoom) Apply(plan *Plan, random *rand.Rand) error {
	height := 1 + r.Height.draw(random)
	width := height
	if r.Width != nil {
		width = 1 + r.Width.draw(random)
	}
	r.move(plan, around(plan.Size(), width, 0, 0, height))
	return nil
}
