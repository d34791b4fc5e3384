package augment

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// geometries is a random chain of operations that move pixels, of pictures of any size, with colours between them.
func geometries(random *rand.Rand, interpolation string, likes ...string) []string {
	like := likes[random.IntN(len(likes))]
	how := fmt.Sprintf(`"interpolation":%q,"antialias":false,"like":%q`, interpolation, like)
	mode := fillNames[random.IntN(4)]
	fill := fmt.Sprintf(`"fill_mode":%q,"fill_value":[0]`, mode)
	pool := append(warps(mode, interpolation),
		flip("horizontal_and_vertical"),
		`{"op":"Pad","padding":[[3,0],[2,5]],`+fill+`}`,
		fmt.Sprintf(`{"op":"Resizing","height":%d,"width":%d,%s}`, 30+random.IntN(60), 30+random.IntN(60), how),
		fmt.Sprintf(`{"op":"Resizing","height":40,"width":60,"pad_to_aspect_ratio":true,%s,%s}`, how, fill),
		fmt.Sprintf(`{"op":"ResizeWithPad","height":45,"width":55,%s,"fill_mode":"constant","fill_value":[0]}`, how),
		fmt.Sprintf(`{"op":"RandomResizedCrop","height":50,"width":45,"scale":[0.3,1],"ratio":[0.75,1.25],%s}`, how),
		fmt.Sprintf(`{"op":"ResizeShorter","size":%d,%s}`, 30+random.IntN(40), how),
		fmt.Sprintf(`{"op":"RandomCrop","height":32,"width":31,"if_smaller":"pad",%s}`, fill),
	)
	var specs []string
	for range 2 + random.IntN(4) {
		specs = append(specs, strings.ReplaceAll(pool[random.IntN(len(pool))], "[17,200,90]", "[0]"))
	}
	return append(specs, fmt.Sprintf(`{"op":"RandomCrop","height":24,"width":26,"if_smaller":"pad",%s}`, fill))
}

// A mask that is made of a black and white picture shows it still, whatever happened to both.
func TestMasksStayAligned(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var draw sample.Draw
	for index := range int64(200) {
		interpolation := []string{"nearest", "bilinear"}[index%2]
		specs := geometries(random, interpolation, "keras", "pillow", "torchvision", "opencv")
		p := parse(t, specs...)
		size := image.Pt(40+random.IntN(50), 40+random.IntN(50))
		picture, mask := blobs(random, size)
		plan, err := p.Plan(size, &draw, 8, 0, index)
		if err != nil {
			t.Fatal(err)
		}
		forMask := plan.Mask()
		shown := written(t, p.Size, plan, cutOut(t, picture, View{Window: plan.Decode}))
		masked := written(t, p.Size, forMask, cutOut(t, mask, View{Window: forMask.Decode}))
		both := [2]int{}
		for i, class := range masked.Pix {
			both[class]++
			value := shown.Pix[3*i]
			if value == 255 && class != 1 || value == 0 && class != 0 || interpolation == "nearest" && value != 255*class {
				t.Fatalf("value %d beside class %d at %d, after\n%s", value, class, i, strings.Join(specs, "\n"))
			}
		}
		if index < 20 && both[0]+both[1] != 24*26 {
			t.Fatalf("%v classes", both)
		}
	}
}

// blobs are white shapes on black, and their mask.
func blobs(random *rand.Rand, size image.Point) (picture, mask pixel.Picture) {
	picture = pixel.Picture{Pix: make([]byte, 3*size.X*size.Y), Stride: 3 * size.X, Width: size.X, Height: size.Y, Channels: 3}
	mask = pixel.Picture{Pix: make([]byte, size.X*size.Y), Stride: size.X, Width: size.X, Height: size.Y, Channels: 1}
	for range 5 {
		x, y, r := random.Float64()*float64(size.X), random.Float64()*float64(size.Y), 4+random.Float64()*12
		for i := range mask.Pix {
			if math.Hypot(float64(i%size.X)-x, float64(i/size.X)-y) < r {
				mask.Pix[i] = 1
				copy(picture.Pix[3*i:], []byte{255, 255, 255})
			}
		}
	}
	return picture, mask
}

// The box of a white rectangle is where its pixels are, to a pixel or what the last resampling blurs.
func TestBoxesFollowTheirPixels(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	var draw sample.Draw
	seen, cut := 0, 0
	for index := range int64(400) {
		specs := geometries(random, "nearest", "keras", "pillow") // the nearest pixels of the others are not quite
		for i := range specs {                                    // beyond the edges there is nothing, or pixels would be seen twice
			for _, mode := range fillNames {
				specs[i] = strings.ReplaceAll(specs[i], `"fill_mode":"`+mode+`"`, `"fill_mode":"constant"`)
			}
		}
		p := parse(t, specs...)
		size := image.Pt(60+random.IntN(50), 60+random.IntN(50))
		r := image.Rect(0, 0, 15+random.IntN(20), 15+random.IntN(20))
		r = r.Add(image.Pt(random.IntN(size.X-r.Dx()), random.IntN(size.Y-r.Dy())))
		_, mask := blobs(random, size)
		for i := range mask.Pix {
			mask.Pix[i] = 0
			if image.Pt(i%size.X, i/size.X).In(r) {
				mask.Pix[i] = 1
			}
		}
		plan, err := p.Plan(size, &draw, 9, 0, index)
		if err != nil {
			t.Fatal(err)
		}
		plan = plan.Mask()
		masked := written(t, p.Size, plan, cutOut(t, mask, View{Window: plan.Decode}))
		var found image.Rectangle
		for i, class := range masked.Pix {
			if class == 1 {
				at := image.Pt(i%26, i/26)
				found = found.Union(image.Rectangle{at, at.Add(image.Pt(1, 1))})
			}
		}
		box, visible := plan.Move(Box{float64(r.Min.X), float64(r.Min.Y), float64(r.Max.X), float64(r.Max.Y)})
		if found.Empty() {
			continue // perhaps too small to be seen
		}
		if visible == 0 {
			t.Fatalf("pixels at %v of a box that is out of sight, after\n%s", found, strings.Join(specs, "\n"))
		}
		seen++
		if visible < 0.99 {
			cut++
		}
		// A turned rectangle is within its bounding box, and what a crop cuts off it may be the corner that makes it so large.
		const margin = 2.5
		if float64(found.Min.X) < box.Left-margin || float64(found.Min.Y) < box.Top-margin ||
			float64(found.Max.X) > box.Right+margin || float64(found.Max.Y) > box.Bottom+margin {
			t.Fatalf("pixels at %v, box %v, after\n%s", found, box, strings.Join(specs, "\n"))
		}
	}
	if seen < 200 || cut < 50 {
		t.Errorf("%d boxes seen, %d of them cut", seen, cut)
	}
}

func TestBoxesMoveExactly(t *testing.T) {
	plan, err := parse(t, crop("CenterCrop", 40, 80), `{"op":"Resizing","height":20,"width":20,`+bilinear+`"keras"}`,
		`{"op":"Pad","padding":[[1,0],[2,0]],`+filled("constant", "nearest")+`}`).Plan(image.Pt(100, 60), new(sample.Draw), 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		box, want Box
		visible   float64
	}{
		{Box{20, 20, 60, 30}, Box{2.5 + 2, 5 + 1, 12.5 + 2, 10 + 1}, 1},
		{Box{0, 0, 20, 20}, Box{2, 1, 4.5, 6}, 0.25}, // the crop begins at 10, 10
		{Box{0, 0, 10, 60}, Box{}, 0},
	} {
		got, visible := plan.Move(test.box)
		if got != test.want || math.Abs(visible-test.visible) > 1e-12 {
			t.Errorf("%v becomes %v, %v visible; want %v, %v", test.box, got, visible, test.want, test.visible)
		}
	}
}
