package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// AutoContrast is keras.layers.AutoContrast: every channel's values are spread over 0 to 255.
type AutoContrast struct{ chance }

func (a *AutoContrast) String() string { return fmt.Sprintf("AutoContrast(p=%v)", a.P) }

// Draw draws whether.
func (a *AutoContrast) Draw(random *rand.Rand) Filter {
	if !a.happens(random) {
		return nil
	}
	return counted(spread)
}

func spread(counts *pixel.Counts) *pixel.Table {
	low, high := 0, pixel.Levels-1
	for low < high && counts[low] == 0 {
		low++
	}
	for high > low && counts[high] == 0 {
		high--
	}
	if low == high { // a flat channel stays as it is
		low, high = 0, 255
	}
	scale := 255 / float64(high-low)
	return tabulate(func(x float64) float64 { return (x - float64(low)) * scale })
}
