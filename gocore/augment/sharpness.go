package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// RandomSharpness is keras.layers.RandomSharpness: a blend of the picture with a smoothed one, or away from it, by a
// number drawn from Factor: 0 gives the smoothed picture, 0.5 the picture, 1 what is as far from it on the other side.
type RandomSharpness struct {
	Factor interval
	chance
}

func (r *RandomSharpness) String() string { return fmt.Sprintf("RandomSharpness(factor=%v)", r.Factor) }

// Draw draws the number.
func (r *RandomSharpness) Draw(random *rand.Rand) Filter {
	if !r.happens(random) {
		return nil
	}
	return sharpen(1 - 2*r.Factor.draw(random))
}

// sharpen is the weight of the smoothed picture.
type sharpen float64

func (sharpen) Reach() int { return 1 }

func (s sharpen) drawn() parameters { return parameters{{"smooth", float64(s)}} }

func (s sharpen) Apply(picture pixel.Picture, work *Work) {
	pixel.Sharpen(picture, float64(s), &work.buffer)
}
