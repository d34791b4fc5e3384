package augment

import "testing"

func TestAutoContrastSpreadsEveryChannel(t *testing.T) {
	expect(t, counted(spread), coloured(10, 7, 0, 20, 7, 255, 60, 7, 5), 0, 7, 0, 51, 7, 255, 255, 7, 5)
}
