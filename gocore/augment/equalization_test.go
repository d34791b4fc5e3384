package augment

import "testing"

func TestEqualizationGivesValuesTheirShareOfWhatIsBelow(t *testing.T) {
	// 10 twice, then 20, 30 and 40: of what is above the least, 1, 2 and 3 thirds.
	expect(t, equalize(256), gray(5, 10, 10, 20, 30, 40), 0, 0, 85, 170, 255)
	expect(t, equalize(256), gray(2, 9, 9, 9, 9), 9, 9, 9, 9)
}

func TestEqualizationTellsOnlyBinsApart(t *testing.T) {
	// Of two bins the second holds 255 alone; of three it begins at 128.
	expect(t, equalize(2), gray(4, 10, 20, 254, 255), 0, 0, 0, 255)
	expect(t, equalize(3), gray(4, 10, 127, 128, 254), 0, 0, 255, 255)
	expect(t, equalize(1), gray(2, 3, 4), 3, 4)
}
