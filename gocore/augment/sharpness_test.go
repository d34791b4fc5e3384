package augment

import (
	"math/rand/v2"
	"testing"
)

func TestSharpnessGoesFromSmoothToSharp(t *testing.T) {
	draw := func(factor float64) Filter {
		return (&RandomSharpness{interval{factor, factor}, always}).Draw(rand.New(rand.NewPCG(1, 1)))
	}
	flat := func() []uint8 { return []uint8{26, 26, 26, 26, 130, 26, 26, 26, 26} }
	// The middle's mean is (8 * 26 + 5 * 130) / 13 = 66, a corner's (130 + 2 * 26 + 5 * 26) / 13 = 24, a side's 28.
	expect(t, draw(0), gray(3, flat()...), 24, 28, 24, 28, 66, 28, 24, 28, 24)
	expect(t, draw(0.5), gray(3, flat()...), flat()...)
	expect(t, draw(1), gray(3, flat()...), 28, 24, 28, 24, 194, 24, 28, 24, 28)
}

func TestSharpnessDrawsItsWeightEvenly(t *testing.T) {
	var weights []float64
	for _, filter := range applied(&RandomSharpness{interval{0.2, 0.9}, always}) {
		weights = append(weights, float64(filter.(sharpen)))
	}
	follows(t, "weight", weights, uniform(1-2*0.9, 1-2*0.2))
}
