package augment

import "testing"

func TestSolarizationInvertsWhatIsNotBelowTheThreshold(t *testing.T) {
	expect(t, solarize(0, 0), gray(3, 0, 100, 255), 255, 155, 0)
	expect(t, solarize(0, 128./255), gray(4, 0, 127, 128, 255), 0, 127, 127, 0)
	expect(t, solarize(20./255, 128./255), gray(4, 0, 107, 108, 250), 20, 127, 127, 0)
}
