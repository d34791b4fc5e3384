package augment

import (
	"image"
	"math"
	"strings"
	"testing"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

func TestAMixtureIsTheWeightedSumOfItsChains(t *testing.T) {
	picture := gray(3, 0, 10, 20, 30, 40, 250)
	inverting, mirroring, both, idle := whole(image.Pt(3, 2)), whole(image.Pt(3, 2)), whole(image.Pt(3, 2)), whole(image.Pt(3, 2))
	inverting.add(invert())
	mirroring.flip(true, false)
	both.add(invert())
	both.flip(true, false)
	m := &mixture{own: 0.5, weights: []float32{0.25, 0.125, 0.0625, 0.0625}, chains: []Plan{inverting, mirroring, both, idle}}
	for i := range m.chains {
		m.chains[i].narrow()
	}
	want := make([]uint8, 6)
	for i, value := range picture.Pix {
		x, mirror := float64(value), float64(picture.Pix[i/3*3+2-i%3])
		want[i] = uint8(math.Floor(0.5625*x + 0.25*(255-x) + 0.125*mirror + 0.0625*(255-mirror) + 0.5))
	}
	expect(t, m, picture, want...)
}

// BenchmarkAugMix has the operations that keras.layers.AugMix has by default, on pictures of 224 by 224 pixels.
func BenchmarkAugMix(b *testing.B) {
	ops := []string{
		`{"op":"RandomShear","x_factor":[0,0.3],"y_factor":[0,0.3],` + filled("reflect", "bilinear") + `}`,
		`{"op":"RandomTranslation","height_factor":[0,0.3],"width_factor":[0,0.3],` + filled("reflect", "bilinear") + `}`,
		`{"op":"RandomRotation","factor":[0,0.3],` + filled("reflect", "bilinear") + `}`,
		`{"op":"Solarization","addition_factor":[0,0.3],"threshold_factor":[0,0.3]}`, `{"op":"RandomPosterization","factor":[2,2]}`,
		`{"op":"AutoContrast"}`, `{"op":"Equalization","bins":256}`, `{"op":"RandomBrightness","factor":[0,0.3]}`,
		`{"op":"RandomColorDegeneration","factor":[0,0.3]}`, `{"op":"RandomContrast","factor":[0,0.3]}`,
		`{"op":"RandomSharpness","factor":[0,0.3]}`,
	}
	p := parse(b, crop("CenterCrop", 224, 224), `{"op":"AugMix","num_chains":3,"chain_depth":3,"alpha":1,"ops":[`+strings.Join(ops, ",")+`]}`)
	w, err := pixel.NewWriter(3, pixel.Uint8, pixel.ChannelsLast, nil)
	if err != nil {
		b.Fatal(err)
	}
	var draw sample.Draw
	var work Work
	picture := noisy(1, 224, 224, 3)
	place := make([]byte, len(picture.Pix))
	for index := int64(0); b.Loop(); index++ {
		plan, err := p.Plan(image.Pt(224, 224), &draw, 1, 1, index%256)
		if err != nil {
			b.Fatal(err)
		}
		if err := plan.Write(place, clone(picture), w, &work); err != nil {
			b.Fatal(err)
		}
	}
}
