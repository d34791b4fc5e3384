package augment

import "testing"

func TestHueTurns(t *testing.T) {
	expect(t, turn(1./3), coloured(250, 100, 50), 50, 250, 100)
	expect(t, turn(-1./3), coloured(250, 100, 50), 100, 50, 250)
	expect(t, turn(0.5), coloured(255, 0, 0, 9, 9, 9), 0, 255, 255, 9, 9, 9)
}
