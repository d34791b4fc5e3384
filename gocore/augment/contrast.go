package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// RandomContrast is keras.layers.RandomContrast: every channel's distance to its mean is multiplied, by a number from
// 1 - Factor[0] to 1 + Factor[1].
type RandomContrast struct {
	Factor interval
	chance
}

func (r *RandomContrast) String() string { return fmt.Sprintf("RandomContrast(factor=%v)", r.Factor) }

// Draw draws the number.
func (r *RandomContrast) Draw(random *rand.Rand) Filter {
	if !r.happens(random) {
		return nil
	}
	return stretch(interval{1 - r.Factor[0], 1 + r.Factor[1]}.draw(random))
}

func stretch(contrast float64) Filter {
	return counted(func(counts *pixel.Counts) *pixel.Table {
		sum, total := uint64(0), uint64(0)
		for x, count := range counts {
			sum += uint64(x) * uint64(count)
			total += uint64(count)
		}
		mean := float64(sum) / float64(total)
		return tabulate(func(x float64) float64 { return (x-mean)*contrast + mean })
	}, parameter{"contrast", contrast})
}
