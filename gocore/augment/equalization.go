package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// Equalization is keras.layers.Equalization: values are replaced so that every channel has about as many of each, told
// apart as far as Bins go.
type Equalization struct {
	Bins int
	chance
}

func (e *Equalization) String() string { return fmt.Sprintf("Equalization(bins=%d)", e.Bins) }

// Draw draws whether.
func (e *Equalization) Draw(random *rand.Rand) Filter {
	if !e.happens(random) {
		return nil
	}
	return equalize(e.Bins)
}

func equalize(bins int) Filter {
	bin := func(x int) int { return x * (bins - 1) / 255 }
	return counted(func(counts *pixel.Counts) *pixel.Table {
		// How many samples lie in a value's bin or below.
		var below [pixel.Levels]uint64
		total, first := uint64(0), uint64(0)
		for start := 0; start < pixel.Levels; {
			end := start
			for end < pixel.Levels && bin(end) == bin(start) {
				total += uint64(counts[end])
				end++
			}
			if first == 0 {
				first = total
			}
			for ; start < end; start++ {
				below[start] = total
			}
		}
		if first == total { // all in one bin
			return tabulate(func(x float64) float64 { return x })
		}
		return tabulate(func(x float64) float64 {
			return (float64(below[int(x)]) - float64(first)) * 255 / float64(total-first)
		})
	})
}
