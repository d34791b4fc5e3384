package augment

import "testing"

func TestDegenerationBlendsWithGray(t *testing.T) {
	expect(t, fade(0), coloured(255, 0, 10), 255, 0, 10)
	expect(t, fade(0.5), coloured(255, 0, 0), 166, 38, 38)
}
