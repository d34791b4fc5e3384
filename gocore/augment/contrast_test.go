package augment

import "testing"

func TestContrastStretchesTheDistanceToTheChannelsMean(t *testing.T) {
	expect(t, stretch(1.5), gray(2, 50, 60, 70, 100), 40, 55, 70, 115) // mean 70
	expect(t, stretch(0), coloured(10, 0, 7, 20, 255, 7), 15, 128, 7, 15, 128, 7)
}
