package augment

import "testing"

func TestInvertMirrorsTheValues(t *testing.T) {
	expect(t, invert(), gray(3, 0, 100, 255), 255, 155, 0)
}

func TestInvertDrawsItsProbability(t *testing.T) {
	happens(t, &RandomInvert{interval{0, 1}}, 0.5)
	happens(t, &RandomInvert{interval{0.2, 0.2}}, 0.2)
}
