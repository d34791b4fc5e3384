package augment

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

func filled(mode, interpolation string) string {
	return fmt.Sprintf(`"fill_mode":%q,"fill_value":[17,200,90],"interpolation":%q`, mode, interpolation)
}

func warps(mode, interpolation string) []string {
	how := filled(mode, interpolation)
	return []string{
		`{"op":"RandomRotation","factor":[-0.1,0.2],` + how + `}`,
		`{"op":"RandomTranslation","height_factor":[-0.3,0.2],"width_factor":[-0.1,0.4],` + how + `}`,
		`{"op":"RandomZoom","height_factor":[-0.3,0.4],` + how + `}`,
		`{"op":"RandomZoom","height_factor":[-0.3,0.4],"width_factor":[-0.2,0.6],` + how + `}`,
		`{"op":"RandomShear","x_factor":[0,0.4],"y_factor":[0,0.3],` + how + `}`,
		`{"op":"RandomPerspective","factor":[1,1],"scale":0.6,` + how + `}`,
	}
}

var fillNames = []string{"constant", "nearest", "reflect", "wrap"}

// matrices draws many times. One that is left out is the identity.
func matrices(t *testing.T, op Geometry, size image.Point) []pixel.Matrix {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]pixel.Matrix, draws)
	for i := range all {
		plan := whole(size)
		if err := op.Apply(&plan, random); err != nil {
			t.Fatal(err)
		}
		all[i] = identity
		if w, ok := plan.stages[0].next.(*warping); ok {
			all[i] = w.Matrix
		}
	}
	return all
}

func each(matrices []pixel.Matrix, value func(m pixel.Matrix) float64) []float64 {
	values := make([]float64, len(matrices))
	for i, m := range matrices {
		values[i] = value(m)
	}
	return values
}

func TestRotationsFollowTheirLaw(t *testing.T) {
	size := image.Pt(41, 31)
	all := matrices(t, &RandomRotation{Factor: interval{-0.1, 0.3}}, size)
	follows(t, "turns", each(all, func(m pixel.Matrix) float64 { return math.Atan2(m[3], m[0]) / (2 * math.Pi) }), uniform(-0.1, 0.3))
	for _, m := range all[:100] { // the middle stays
		if x, y := m[0]*20+m[1]*15+m[2], m[3]*20+m[4]*15+m[5]; math.Hypot(x-20, y-15) > 1e-9 {
			t.Fatalf("the middle comes from %v, %v", x, y)
		}
	}
}

func TestTranslationsFollowTheirLaw(t *testing.T) {
	all := matrices(t, &RandomTranslation{Height: interval{-0.2, 0.1}, Width: interval{0.3, 0.5}}, image.Pt(40, 30))
	follows(t, "down", each(all, func(m pixel.Matrix) float64 { return -m[5] / 30 }), uniform(-0.2, 0.1))
	follows(t, "right", each(all, func(m pixel.Matrix) float64 { return -m[2] / 40 }), uniform(0.3, 0.5))
}

func TestZoomsFollowTheirLaw(t *testing.T) {
	all := matrices(t, &RandomZoom{Height: interval{-0.2, 0.1}, Width: &interval{0.3, 0.5}}, image.Pt(41, 31))
	follows(t, "height", each(all, func(m pixel.Matrix) float64 { return m[4] }), uniform(0.8, 1.1))
	follows(t, "width", each(all, func(m pixel.Matrix) float64 { return m[0] }), uniform(1.3, 1.5))
	for _, m := range matrices(t, &RandomZoom{Height: interval{-0.2, 0.1}}, image.Pt(41, 31)) {
		if m[0] != m[4] || math.Abs(20*m[0]+m[2]-20) > 1e-12 || math.Abs(15*m[4]+m[5]-15) > 1e-12 {
			t.Fatalf("%v changes the aspect ratio or moves the middle", m)
		}
	}
}

func TestShearsFollowTheirLaw(t *testing.T) {
	all := matrices(t, &RandomShear{X: interval{0.1, 0.5}, Y: interval{0, 0.2}}, image.Pt(40, 30))
	follows(t, "x", each(all, func(m pixel.Matrix) float64 { return math.Abs(m[1]) }), uniform(0.1, 0.5))
	follows(t, "y", each(all, func(m pixel.Matrix) float64 { return math.Abs(m[3]) }), uniform(0, 0.2))
	other := 0
	for _, m := range all {
		if m[1]*m[3] < 0 {
			t.Fatalf("%v goes two ways", m)
		}
		if m[1] < 0 {
			other++
		}
	}
	if math.Abs(float64(other)-draws/2) > 3.9*math.Sqrt(draws)/2 {
		t.Errorf("%d of %d go the other way", other, draws)
	}
}

func TestPerspectivesFollowTheirLaw(t *testing.T) {
	size := image.Pt(101, 51)
	all := matrices(t, &RandomPerspective{Factor: interval{0.2, 1}, Scale: 0.4}, size)
	var applied []pixel.Matrix
	for _, m := range all {
		if m != identity {
			applied = append(applied, m)
		}
	}
	if n := float64(len(applied)); math.Abs(n-0.6*draws) > 3.9*math.Sqrt(draws*0.24) {
		t.Errorf("%v of %d are changed, want a share of 0.6", n, draws)
	}
	for corner, at := range []image.Point{{100, 0}, {0, 50}, {100, 50}} {
		var x, y []float64
		for _, m := range applied {
			w := newWarping(pixel.Warp{Matrix: m})
			moved, ok := w.forward(point{float64(at.X) + 0.5, float64(at.Y) + 0.5})
			if !ok {
				t.Fatalf("corner %v goes nowhere by %v", at, m)
			}
			x, y = append(x, (moved.x-0.5)/100), append(y, (moved.y-0.5)/50)
		}
		if at.X > 0 {
			follows(t, fmt.Sprint("x of corner ", corner), x, uniform(0.8, 1.2))
		}
		if at.Y > 0 {
			follows(t, fmt.Sprint("y of corner ", corner), y, uniform(0.8, 1.2))
		}
	}
}

// Neighbours with the same fill are one: a point goes where it goes through one after another.
func TestNeighbouringWarpsAreOne(t *testing.T) {
	size := image.Pt(60, 50)
	var draw sample.Draw
	for index := range int64(100) {
		var specs []string
		all := warps("reflect", "bilinear")
		for i := range 4 {
			specs = append(specs, all[(int(index)+i)%len(all)])
			if i == 1 {
				specs = append(specs, flip("horizontal_and_vertical"))
			}
		}
		p := parse(t, append(specs, crop("CenterCrop", 20, 20))...)
		plan, err := p.Plan(size, &draw, 5, 0, index)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.stages) != 2 {
			t.Fatalf("%d stages of neighbouring warps", len(plan.stages))
		}
		at := point{13.3, 37.9}
		joined, ok := plan.stages[0].next.forward(at)
		want := at
		for _, step := range p.steps[:len(p.steps)-1] {
			single := whole(size)
			if err := single.apply(step.op, draw.Reset(5, 0, index, step.position)); err != nil {
				t.Fatal(err)
			}
			if last := single.last(); len(single.stages) == 1 {
				if last.FlipX {
					want.x = float64(size.X) - want.x
				}
				if last.FlipY {
					want.y = float64(size.Y) - want.y
				}
			} else if want, ok = single.stages[0].next.forward(want); !ok {
				break
			}
		}
		if !ok {
			continue // beyond the horizon
		}
		if last := plan.last(); last.FlipX || last.FlipY {
			t.Fatal("a flip was not joined")
		}
		if math.Hypot(joined.x-want.x, joined.y-want.y) > 1e-6*(1+math.Hypot(want.x, want.y)) {
			t.Fatalf("%v goes to %v, want %v, by\n%s", at, joined, want, strings.Join(specs, "\n"))
		}
	}
}

func TestWhatIsNotBesideAnotherWarpIsNotJoined(t *testing.T) {
	rotation := func(mode string) string {
		return `{"op":"RandomRotation","factor":[0.1,0.1],` + filled(mode, "bilinear") + `}`
	}
	for name, between := range map[string][]string{
		"crop": {crop("CenterCrop", 30, 30), rotation("wrap")}, "colour": {`{"op":"AutoContrast"}`, rotation("wrap")},
		"fill": {rotation("reflect")}, "size": {resizing("keras", 30, 30), rotation("wrap")},
	} {
		specs := append([]string{rotation("wrap")}, between...)
		plan, err := parse(t, append(specs, crop("CenterCrop", 20, 20))...).Plan(image.Pt(60, 50), new(sample.Draw), 1, 1, 1)
		if err != nil || len(plan.stages) < 3 {
			t.Errorf("%s: %d stages, %v", name, len(plan.stages), err)
		}
	}
}

// Where warps are not joined, a plan gives what its operations give one after another, to the byte.
func TestWarpingPlansEqualOneAfterAnother(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var draw sample.Draw
	smaller := 0
	for index := range int64(300) {
		others := []string{
			resizing("keras", 31, 44), crop("RandomCrop", 29, 33), `{"op":"AutoContrast"}`, `{"op":"RandomSharpness","factor":[0,1]}`,
			`{"op":"Pad","padding":[[1,2],[3,4]],` + filled(fillNames[index%4], "nearest") + `}`,
			`{"op":"ResizeWithPad","height":40,"width":35,` + bilinear + `"keras","fill_mode":"constant","fill_value":[3]}`,
			`{"op":"Resizing","height":40,"width":35,"pad_to_aspect_ratio":true,` + bilinear + `"keras",` + filled(fillNames[index/4%4], "bilinear") + `}`,
		}
		var specs []string
		for i := range 3 {
			all := warps(fillNames[(int(index)+i)%4], []string{"nearest", "bilinear"}[random.IntN(2)])
			specs = append(specs, all[random.IntN(len(all))], others[random.IntN(len(others))])
			if random.IntN(2) == 0 {
				specs = append(specs, flip("horizontal_and_vertical"))
			}
		}
		specs = append(specs, crop("CenterCrop", 24, 26))
		p := parse(t, specs...)
		size := image.Pt(60+random.IntN(30), 50+random.IntN(30))
		picture := noisy(uint64(index), size.X, size.Y, 3)
		got, want, less := bothWays(t, p, picture, &draw, index)
		if less {
			smaller++
		}
		if flips := strings.Contains(strings.Join(specs, ""), "RandomFlip"); !flips && !bytes.Equal(got.Pix, want.Pix) {
			t.Fatalf("the plan's pixels differ from those of\n%s", strings.Join(specs, "\n"))
		} else if flips && far(got, want) > len(got.Pix)/16 { // places computed another way round once in a while
			t.Fatalf("%d of the plan's %d pixels differ from those of\n%s", far(got, want), len(got.Pix), strings.Join(specs, "\n"))
		}
	}
	if smaller < 20 {
		t.Errorf("only %d of 300 plans decode less than the whole picture", smaller)
	}
}

// far counts the values that differ by more than one level.
func far(a, b pixel.Picture) int {
	count := 0
	for i := range a.Pix {
		if d := int(a.Pix[i]) - int(b.Pix[i]); d < -1 || d > 1 {
			count++
		}
	}
	return count
}

func TestSmallPicturesArePaddedOrResized(t *testing.T) {
	pad := parse(t, `{"op":"RandomCrop","height":20,"width":30,"if_smaller":"pad","fill_mode":"constant","fill_value":[9]}`)
	var draw sample.Draw
	var lefts, tops []float64
	for index := range int64(draws) {
		plan, err := pad.Plan(image.Pt(12, 40), &draw, 1, 1, index)
		if err != nil {
			t.Fatal(err)
		}
		lefts = append(lefts, float64(plan.last().Window.Min.X)+random01(index))
		tops = append(tops, float64(plan.last().Window.Min.Y)+random01(index+1))
	}
	follows(t, "left", lefts, uniform(0, 19)) // 18 on either side of 12
	follows(t, "top", tops, uniform(0, 21))

	resize := parse(t, `{"op":"RandomCrop","height":20,"width":30,"if_smaller":"resize","fill_mode":"constant","fill_value":[0]}`)
	plan, err := resize.Plan(image.Pt(12, 40), &draw, 1, 1, 1)
	if err != nil || plan.Decode != image.Rect(0, 16, 12, 24) || plan.last().Window != image.Rect(0, 0, 30, 20) {
		t.Errorf("%v of it becomes %v, %v", plan.Decode, plan.last().Window, err)
	}
}

// random01 spreads whole numbers, so that their law is a continuous one.
func random01(index int64) float64 { return sample.Random(99, 0, index, 0).Float64() }
