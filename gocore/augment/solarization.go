package augment

import (
	"fmt"
	"math/rand/v2"
)

// Solarization is keras.layers.Solarization: an addition, clipped, and then 255 - x for what is not below a threshold.
// Both are shares of 255.
type Solarization struct {
	Addition  interval `json:"addition_factor"`
	Threshold interval `json:"threshold_factor"`
	chance
}

func (s *Solarization) String() string {
	return fmt.Sprintf("Solarization(addition_factor=%v, threshold_factor=%v)", s.Addition, s.Threshold)
}

// Draw draws the addition, then the threshold.
func (s *Solarization) Draw(random *rand.Rand) Filter {
	if !s.happens(random) {
		return nil
	}
	addition := s.Addition.draw(random)
	return solarize(addition, s.Threshold.draw(random))
}

func solarize(addition, threshold float64) Filter {
	return &fixed{tabulate(func(x float64) float64 {
		x = min(x+addition*255, 255)
		if x < threshold*255 {
			return x
		}
		return 255 - x
	}), parameters{{"addition", addition}, {"threshold", threshold}}}
}
