package augment

import "testing"

func TestBrightnessAddsAShareOf255(t *testing.T) {
	expect(t, brighten(0.1), gray(3, 0, 100, 240), 26, 126, 255) // 25.5 and 125.5 round up
	expect(t, brighten(-0.2), gray(3, 0, 100, 240), 0, 49, 189)
}
