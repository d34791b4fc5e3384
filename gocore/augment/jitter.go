package augment

import (
	"fmt"
	"math/rand/v2"
)

// RandomColorJitter is keras.layers.RandomColorJitter: brightness, contrast, saturation and hue in this order, each
// where its factor is given.
type RandomColorJitter struct {
	Brightness *interval `json:"brightness_factor"`
	Contrast   *interval `json:"contrast_factor"`
	Saturation *interval `json:"saturation_factor"`
	Hue        *interval `json:"hue_factor"`
	chance
}

func (j *RandomColorJitter) String() string {
	return fmt.Sprintf("RandomColorJitter(brightness_factor=%v, contrast_factor=%v, saturation_factor=%v, hue_factor=%v)",
		j.Brightness, j.Contrast, j.Saturation, j.Hue)
}

// Draw draws for each as the operation of its own does.
func (j *RandomColorJitter) Draw(random *rand.Rand) Filter {
	if !j.happens(random) {
		return nil
	}
	var filters chain
	if j.Brightness != nil {
		filters = append(filters, (&RandomBrightness{*j.Brightness, always}).Draw(random))
	}
	if j.Contrast != nil {
		filters = append(filters, (&RandomContrast{*j.Contrast, always}).Draw(random))
	}
	if j.Saturation != nil {
		filters = append(filters, (&RandomSaturation{*j.Saturation, always}).Draw(random))
	}
	if j.Hue != nil {
		filters = append(filters, (&RandomHue{*j.Hue, always}).Draw(random))
	}
	return filters
}
