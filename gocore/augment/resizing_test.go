package augment

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

const bilinear = `"interpolation":"bilinear","antialias":true,"like":`

func resizing(like string, height, width int) string {
	return fmt.Sprintf(`{"op":"Resizing","height":%d,"width":%d,%s%q}`, height, width, bilinear, like)
}

func shorter(like string, size int) string {
	return fmt.Sprintf(`{"op":"ResizeShorter","size":%d,%s%q}`, size, bilinear, like)
}

func resizedCrop(like string, height, width int) string {
	return fmt.Sprintf(`{"op":"RandomResizedCrop","height":%d,"width":%d,"scale":[0.08,1],"ratio":[0.75,1.3333333333333333],%s%q}`,
		height, width, bilinear, like)
}

// alone is what an operation makes of a whole picture.
func alone(t *testing.T, op Geometry, picture pixel.Picture, random *rand.Rand) pixel.Picture {
	t.Helper()
	plan := whole(image.Pt(picture.Width, picture.Height))
	if err := op.Apply(&plan, random); err != nil {
		t.Fatal(err)
	}
	plan.narrow()
	return written(t, plan.Size(), plan, cutOut(t, picture, View{Window: plan.Decode}))
}

// A part of the picture, decoded and resampled where it is needed, must equal that of the whole, whatever comes before
// and after.
func TestResizingPlansEqualOneAfterAnother(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	var draw sample.Draw
	smaller := 0
	colour := func(specs []string) []string {
		if random.IntN(2) == 0 {
			specs = append(specs, everyColour[random.IntN(len(everyColour))])
		}
		return specs
	}
	for index := range int64(400) {
		like := []string{"keras", "pillow", "torchvision", "opencv"}[index%4]
		resizers := []string{resizing(like, 31, 44), shorter(like, 30), resizedCrop(like, 33, 35)}
		var specs []string
		for range 1 + random.IntN(2) {
			specs = colour(append(colour(specs), resizers[random.IntN(len(resizers))]))
		}
		specs = colour(append(specs, crop("RandomCrop", 20, 22)))
		specs = slices.DeleteFunc(specs, func(s string) bool { return strings.Contains(s, "Erasing") }) // its noise follows the place
		if sameBothWays(t, image.Pt(60+random.IntN(30), 50+random.IntN(30)), &draw, index, specs...) {
			smaller++
		}
	}
	if smaller < 50 {
		t.Errorf("only %d of 400 plans decode less than the whole picture", smaller)
	}
}

func TestOnlyTheWindowOfAResizedPictureIsDecoded(t *testing.T) {
	p := parse(t, shorter("keras", 256), crop("CenterCrop", 224, 224))
	plan, err := p.Plan(image.Pt(1024, 512), new(sample.Draw), 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, most := plan.Decode, image.Rect(512-224-4, 32-4, 512+224+4, 512-32+4); !got.In(most) {
		t.Errorf("%v decoded, more than %v", got, most)
	}
}

func TestFlipsFollowResizing(t *testing.T) {
	picture := noisy(1, 50, 40, 3)
	var draw sample.Draw
	kinds := map[[2]bool]bool{}
	for index := range int64(30) {
		p := parse(t, flip("horizontal_and_vertical"), resizing("keras", 20, 30))
		plan, err := p.Plan(image.Pt(50, 40), &draw, 1, 1, index)
		if err != nil {
			t.Fatal(err)
		}
		view := plan.last().View
		kinds[[2]bool{view.FlipX, view.FlipY}] = true
		straight := alone(t, p.steps[1].op.(Geometry), picture, nil)
		if got, want := written(t, p.Size, plan, clone(picture)), cutOut(t, straight, view); !bytes.Equal(got.Pix, want.Pix) {
			t.Fatalf("sample %d, %v: other pixels", index, view)
		}
	}
	if len(kinds) != 4 {
		t.Errorf("%d kinds of flip", len(kinds))
	}
}

// By torchvision's rule the share of the area is drawn evenly from the scale, and the logarithm of the aspect ratio evenly
// from that of the ratio, where the part fits; a large picture and a small scale make it fit always.
func TestRandomResizedCropFollowsItsLaw(t *testing.T) {
	const draws = 20_000
	op := &RandomResizedCrop{window: window{1, 1}, Scale: interval{0.1, 0.4}, Ratio: interval{0.5, 2}}
	size := image.Pt(20_000, 20_000)
	var shares, ratios, lefts, tops []float64
	var draw sample.Draw
	for index := range int64(draws) {
		part := op.part(size, draw.Reset(1, 1, index, 0))
		width, height := float64(part.Dx()), float64(part.Dy())
		shares = append(shares, (width*height/4e8-0.1)/0.3)
		ratios = append(ratios, (math.Log(width/height)/math.Log(2)+1)/2)
		lefts = append(lefts, float64(part.Min.X)/(20_000-width+1))
		tops = append(tops, float64(part.Min.Y)/(20_000-height+1))
	}
	for name, values := range map[string][]float64{"area": shares, "ratio": ratios, "left": lefts, "top": tops} {
		slices.Sort(values)
		distance := 0.0 // Kolmogorov and Smirnov's
		for i, value := range values {
			distance = max(distance, math.Abs(value-float64(i)/draws), math.Abs(value-float64(i+1)/draws))
		}
		if limit := 1.95 / math.Sqrt(draws); distance > limit { // one in a thousand exceeds it
			t.Errorf("%s: distance %.4f from the even distribution, limit %.4f", name, distance, limit)
		}
	}
}

func TestRandomResizedCropOfAPictureThatNothingFits(t *testing.T) {
	op := &RandomResizedCrop{window: window{8, 8}, Scale: interval{0.08, 1}, Ratio: interval{3.0 / 4, 4.0 / 3}}
	random := rand.New(rand.NewPCG(1, 1))
	for _, test := range []struct{ size, want image.Point }{
		{image.Pt(10, 1000), image.Pt(10, 13)}, {image.Pt(1000, 10), image.Pt(13, 10)}, {image.Pt(1, 1), image.Pt(1, 1)},
	} {
		for range 20 {
			part := op.part(test.size, random)
			if !part.In(image.Rectangle{Max: test.size}) || part.Size() != test.want {
				t.Fatalf("%v of %v, want %v", part, test.size, test.want)
			}
		}
	}
}

func TestSizesOfResizedPictures(t *testing.T) {
	for _, test := range []struct{ size, want image.Point }{
		{image.Pt(500, 375), image.Pt(341, 256)}, {image.Pt(375, 500), image.Pt(256, 341)}, {image.Pt(7, 7), image.Pt(256, 256)},
	} {
		if got := (&ResizeShorter{Size: 256}).to(test.size); got != test.want {
			t.Errorf("%v becomes %v, want %v", test.size, got, test.want)
		}
	}
	if part := (window{100, 200}).inside(image.Pt(300, 301)); part != image.Rect(0, 75, 300, 225) {
		t.Errorf("part %v", part)
	}
}

func TestResizersRefuseWhatTheyCannotDo(t *testing.T) {
	for _, spec := range []string{
		`{"op":"Resizing","height":8,"width":8,"interpolation":"hamming","like":"keras"}`,
		`{"op":"Resizing","height":8,"width":8,"interpolation":"lanczos5","like":"pillow"}`,
		`{"op":"Resizing","height":8,"width":8,"interpolation":"nearest","like":"skimage"}`,
		`{"op":"Resizing","height":0,"width":8,"interpolation":"nearest","like":"keras"}`,
		`{"op":"ResizeShorter","size":0,"interpolation":"nearest","like":"keras"}`,
		`{"op":"RandomResizedCrop","height":8,"width":8,"scale":[0,1],"ratio":[1,1],"interpolation":"nearest","like":"keras"}`,
		`{"op":"RandomResizedCrop","height":8,"width":8,"scale":[0.5,1],"ratio":[2,1],"interpolation":"nearest","like":"keras"}`,
		shorter("keras", 256), // its size is not fixed
	} {
		if _, err := Parse(raw([]string{spec}), 3); err == nil {
			t.Errorf("%s is taken", spec)
		}
	}
}
