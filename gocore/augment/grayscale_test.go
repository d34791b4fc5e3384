package augment

import "testing"

func TestGrayscaleWeighsTheChannels(t *testing.T) {
	expect(t, fade(1), coloured(255, 0, 0, 0, 255, 0, 0, 0, 255), 76, 76, 76, 150, 150, 150, 29, 29, 29)
}

func TestGrayscaleHappensAsOftenAsItsFactorSays(t *testing.T) {
	happens(t, &RandomGrayscale{0.2}, 0.2)
	happens(t, &RandomGrayscale{1}, 1)
}
