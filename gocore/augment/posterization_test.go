package augment

import (
	"math"
	"testing"
)

func TestPosterizationKeepsTheUpperBits(t *testing.T) {
	expect(t, posterize(1), gray(4, 0, 127, 128, 255), 0, 0, 128, 128)
	expect(t, posterize(3), gray(4, 31, 32, 200, 255), 0, 32, 192, 224)
	expect(t, posterize(8), gray(4, 31, 32, 200, 255), 31, 32, 200, 255)
}

func TestPosterizationDrawsBitsBelowTheUpperEnd(t *testing.T) {
	counts := map[uint8]float64{}
	for _, filter := range applied(&RandomPosterization{[2]int{3, 6}, always}) {
		p := gray(1, 255)
		filter.Apply(p, new(Work))
		counts[p.Pix[0]]++
	}
	for _, value := range []uint8{0xe0, 0xf0, 0xf8} {
		if math.Abs(counts[value]-draws/3.) > 3.9*math.Sqrt(draws*2/9.) {
			t.Errorf("%v: not a third each", counts)
		}
	}
	if len(counts) != 3 {
		t.Errorf("%v: not 3 to 5 bits", counts)
	}
	for _, filter := range applied(&RandomPosterization{[2]int{4, 4}, always})[:10] {
		expect(t, filter, gray(1, 255), 0xf0)
	}
}
