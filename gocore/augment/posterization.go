package augment

import (
	"fmt"
	"math/rand/v2"
)

// RandomPosterization is keras.layers.RandomPosterization: of every value only the upper bits are kept, as many as are
// drawn from Factor[0] up to, but not with, Factor[1]; as many as both say where they are equal.
type RandomPosterization struct {
	Factor [2]int
	chance
}

func (r *RandomPosterization) String() string {
	return fmt.Sprintf("RandomPosterization(factor=%v)", r.Factor)
}

// Draw draws the number of bits.
func (r *RandomPosterization) Draw(random *rand.Rand) Filter {
	if !r.happens(random) {
		return nil
	}
	bits := r.Factor[0]
	if room := r.Factor[1] - bits; room > 0 {
		bits += random.IntN(room)
	}
	return posterize(bits)
}

func posterize(bits int) Filter {
	mask := 0xff &^ (0xff >> max(bits, 0))
	return &fixed{tabulate(func(x float64) float64 { return float64(int(x) & mask) }), parameters{{"bits", float64(bits)}}}
}
