package augment

import (
	"encoding/json"
	"image"
	"os"
	"testing"

	"tfgoloader/gocore/pixel"
)

// The pixels of torchvision's own operations, by testdata/goldens.py. Colours are within a level, since torchvision cuts
// where these round. Places are the same but where they lie between two pixels, and on the border, into which torchvision
// blends what lies beyond it.
func TestPublishedOperationsAreTorchvisions(t *testing.T) {
	text, err := os.ReadFile("testdata/goldens.json")
	if err != nil {
		t.Fatal(err)
	}
	var goldens struct {
		Height, Width int
		Picture       []byte
		Cases         []struct {
			Op, Interpolation string
			Magnitude         float64
			Want              []byte
		}
	}
	if err := json.Unmarshal(text, &goldens); err != nil {
		t.Fatal(err)
	}
	size := image.Pt(goldens.Width, goldens.Height)
	picture := func(pix []byte) pixel.Picture {
		return pixel.Picture{Pix: pix, Stride: 3 * size.X, Width: size.X, Height: size.Y, Channels: 3}
	}
	seen, allowed := map[string]bool{}, map[string]int{"nearest": 2, "bilinear": 7} // percent
	for _, test := range goldens.Cases {
		seen[test.Op] = true
		op := published{warp{filling{"constant", []float64{17, 200, 90}}, test.Interpolation}}
		plan := whole(size)
		op.act(&plan, test.Op, test.Magnitude)
		plan.narrow()
		got := written(t, size, plan, cutOut(t, picture(goldens.Picture), View{Window: plan.Decode}))
		if wrong := far(got, picture(test.Want)); wrong > len(got.Pix)*allowed[test.Interpolation]/100 && plan.stages[0].next != nil || wrong > 0 && plan.stages[0].next == nil {
			t.Errorf("%s %v, %s: %d of %d values are off by more than a level", test.Op, test.Magnitude, test.Interpolation, wrong, len(got.Pix))
		}
	}
	for name := range map[string]bool{"AutoContrast": true, "Equalize": true, "Rotate": true, "ShearX": true, "TranslateY": true} {
		if !seen[name] {
			t.Errorf("%s is not among the goldens", name)
		}
	}
}
