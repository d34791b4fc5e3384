package augment

import "testing"

func TestSaturationIsMultiplied(t *testing.T) {
	expect(t, saturate(0.5), coloured(200, 100, 40), 200, 100, 40)
	expect(t, saturate(1./3), coloured(200, 100, 40), 200, 150, 120)
	expect(t, saturate(0), coloured(200, 100, 40), 200, 200, 200)
	expect(t, saturate(1), coloured(200, 199, 40, 7, 7, 7), 200, 0, 0, 7, 7, 7)
}
