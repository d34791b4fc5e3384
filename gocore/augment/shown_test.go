package augment

import (
	"image"
	"math/rand/v2"
	"regexp"
	"testing"

	"tfgoloader/gocore/sample"
)

var anyFill = regexp.MustCompile(`"fill_mode":"\w+"`)

// What the nearest pixels are taken from lies in what is shown, but for what rounding adds.
func TestShownIsWhatPixelsComeFrom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	var draw sample.Draw
	for index := range int64(400) {
		specs := geometries(random, "nearest", "keras") // whose nearest pixel is the one whose centre is
		for i := range specs {
			specs[i] = anyFill.ReplaceAllString(specs[i], `"fill_mode":"constant"`) // of which no pixel is the picture's
		}
		p := parse(t, specs...)
		size := image.Pt(40+random.IntN(50), 40+random.IntN(50))
		plan, err := p.Plan(size, &draw, 8, 0, index)
		if err != nil {
			t.Fatal(err)
		}
		shown, from := plan.Shown(), plan.Mask().Decode
		if !shown.In(image.Rectangle{Max: size}) {
			t.Fatalf("%v shows %v of %v", specs, shown, size)
		}
		if !shown.Empty() && !from.In(shown.Inset(-1)) {
			t.Errorf("%v: pixels come from %v, shown is %v", specs, from, shown)
		}
	}
}
