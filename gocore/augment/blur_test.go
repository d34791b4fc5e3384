package augment

import (
	"math"
	"testing"
)

func TestGaussianWeights(t *testing.T) {
	for _, sigma := range []float64{1e-6, 0.3, 1, 5} {
		for _, radius := range []int{0, 1, 4} {
			weights, sum := gaussian(radius, sigma), 0.0
			for i := -radius; i <= radius; i++ {
				sum += math.Exp(-float64(i*i) / (2 * sigma * sigma))
			}
			for i, got := range weights {
				if want := math.Exp(-float64(i*i)/(2*sigma*sigma)) / sum; math.Abs(float64(got)-want) > 1e-7 {
					t.Errorf("sigma %v, radius %d: weight %d is %v, want %v", sigma, radius, i, got, want)
				}
			}
		}
	}
}

func TestBlurSpreadsAPixel(t *testing.T) {
	weights := gaussian(1, 1)
	corner := 255 * weights[1] * weights[1]
	side, middle := 255*weights[0]*weights[1], 255*weights[0]*weights[0]
	level := func(x float32) uint8 { return uint8(x + 0.5) }
	expect(t, &blur{along: weights, across: weights}, gray(3, 0, 0, 0, 0, 255, 0, 0, 0, 0),
		level(corner), level(side), level(corner), level(side), level(middle), level(side), level(corner), level(side), level(corner))
	// Along rows alone, with zeros outside.
	expect(t, &blur{along: []float32{0.5, 0.25}, across: []float32{1, 0}}, gray(3, 100, 40, 80, 0, 0, 8), 60, 65, 50, 0, 2, 4)
}

func TestBlurDrawsItsProbabilityAndBothDeviations(t *testing.T) {
	op := &RandomGaussianBlur{interval{0.2, 0.8}, 3, interval{0.5, 2}}
	happens(t, op, 0.5)
	var along, across []float64
	for _, filter := range applied(op) {
		b := filter.(*blur)
		along = append(along, math.Sqrt(0.5/math.Log(float64(b.along[0]/b.along[1]))))
		across = append(across, math.Sqrt(0.5/math.Log(float64(b.across[0]/b.across[1]))))
	}
	if along[0] == across[0] {
		t.Error("one deviation for both axes")
	}
	follows(t, "along rows", along, uniform(0.5, 2))
	follows(t, "across rows", across, uniform(0.5, 2))
}
