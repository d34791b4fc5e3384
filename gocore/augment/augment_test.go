package augment

import (
	"encoding/json"
	"errors"
	"image"
	"testing"

	"tfgoloader/gocore/sample"
)

func parse(t testing.TB, specs ...string) *Pipeline {
	t.Helper()
	p, err := Parse(raw(specs), 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(p) != 1 {
		t.Fatalf("%d pipelines, want 1", len(p))
	}
	return p[0]
}

func raw(specs []string) []json.RawMessage {
	out := make([]json.RawMessage, len(specs))
	for i, s := range specs {
		out[i] = json.RawMessage(s)
	}
	return out
}

func crop(name string, height, width int) string {
	text, _ := json.Marshal(map[string]any{"op": name, "height": height, "width": width})
	return string(text)
}

func flip(mode string) string { return `{"op":"RandomFlip","mode":"` + mode + `"}` }

func TestParseRefusesWhatNoPictureCouldGoThrough(t *testing.T) {
	for name, specs := range map[string][]string{
		"size not fixed":     {flip("horizontal")},
		"empty":              {},
		"unknown operation":  {`{"op":"Sharpen"}`},
		"not JSON":           {`{`},
		"wrong type":         {`{"op":"RandomCrop","height":"8","width":8}`},
		"no size":            {`{"op":"RandomCrop"}`},
		"crop grows":         {crop("CenterCrop", 8, 8), crop("RandomCrop", 8, 9)},
		"unknown flip":       {crop("CenterCrop", 8, 8), flip("diagonal")},
		"crop of no height":  {crop("CenterCrop", 0, 8)},
		"crop of less width": {crop("RandomCrop", 8, -1)},
	} {
		if _, err := Parse(raw(specs), 3); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want %v", name, err, ErrConfig)
		}
	}
}

// pixels follows a plan on a picture whose pixels are their own coordinates.
func pixels(view View) [][]image.Point {
	size := view.Window.Size()
	rows := make([][]image.Point, size.Y)
	for y := range rows {
		for x := range size.X {
			at := image.Pt(x, y)
			if view.FlipX {
				at.X = size.X - 1 - x
			}
			if view.FlipY {
				at.Y = size.Y - 1 - y
			}
			rows[y] = append(rows[y], view.Window.Min.Add(at))
		}
	}
	return rows
}

// Operations composed on coordinates must give what the same operations give one after another on pixels.
func TestWhatIsRefusedIsNamed(t *testing.T) {
	rotation := `{"op":"RandomRotation","factor":[0,0.5],` + filled("wrap", "bicubic") + `}`
	for spec, want := range map[string]string{
		rotation: "RandomRotation(factor=[0 0.5]): interpolation is nearest or bilinear",
		`{"op":"RandomApply","p":0.5,"ops":[` + rotation + `]}`: "RandomApply(p=0.5): RandomRotation(factor=[0 0.5]): " +
			"interpolation is nearest or bilinear",
		crop("CenterCrop", 9, 8): "CenterCrop(height=9, width=8): larger than the 8 x 8 (height x width) before it",
	} {
		_, err := Parse(raw([]string{crop("CenterCrop", 8, 8), spec}), 3)
		if !errors.Is(err, ErrConfig) || err.Error() != "invalid pipeline: ops[1]: "+want {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func TestCompositionEqualsOneAfterAnother(t *testing.T) {
	size := image.Pt(23, 17)
	var draw sample.Draw
	for index := range int64(300) {
		p := parse(t, flip("horizontal_and_vertical"), crop("RandomCrop", 13, 19), flip("vertical"), crop("CenterCrop", 10, 10),
			flip("horizontal"), crop("RandomCrop", 3, 4))
		view, err := p.Plan(size, &draw, 7, 1, index)
		if err != nil {
			t.Fatal(err)
		}

		rows := pixels(View{Window: image.Rectangle{Max: size}})
		for _, step := range p.steps {
			random := draw.Reset(7, 1, index, step.position)
			switch op := step.op.(type) {
			case *RandomFlip:
				x, y := random.IntN(2) == 1, random.IntN(2) == 1
				if y && op.Mode != "horizontal" {
					for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
						rows[i], rows[j] = rows[j], rows[i]
					}
				}
				if x && op.Mode != "vertical" {
					for _, row := range rows {
						for i, j := 0, len(row)-1; i < j; i, j = i+1, j-1 {
							row[i], row[j] = row[j], row[i]
						}
					}
				}
			case *RandomCrop:
				y := random.IntN(len(rows) - op.Height + 1)
				x := random.IntN(len(rows[0]) - op.Width + 1)
				rows = cut(rows, y, x, op.Height, op.Width)
			case *CenterCrop:
				rows = cut(rows, (len(rows)-op.Height)/2, (len(rows[0])-op.Width)/2, op.Height, op.Width)
			}
		}

		got := pixels(view.last().View)
		for y := range rows {
			for x := range rows[y] {
				if got[y][x] != rows[y][x] {
					t.Fatalf("sample %d: pixel (%d, %d) comes from %v, want %v", index, x, y, got[y][x], rows[y][x])
				}
			}
		}
	}
}

func cut(rows [][]image.Point, y, x, height, width int) [][]image.Point {
	out := make([][]image.Point, height)
	for i := range out {
		out[i] = append([]image.Point(nil), rows[y+i][x:x+width]...)
	}
	return out
}

func TestASmallPictureIsAnErrorWithBothSizes(t *testing.T) {
	var draw sample.Draw
	for _, name := range []string{"RandomCrop", "CenterCrop"} {
		_, err := parse(t, crop(name, 224, 225)).Plan(image.Pt(300, 200), &draw, 0, 0, 0)
		want := "picture too small: 200 x 300 (height x width) is smaller than " + name + "(height=224, width=225)"
		if !errors.Is(err, ErrSize) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestEveryCropPlaceAndFlipIsEquallyLikely(t *testing.T) {
	const trials = 40_000
	p := parse(t, crop("RandomCrop", 5, 7), flip("horizontal_and_vertical"))
	counts := map[View]int{}
	var draw sample.Draw
	for index := range int64(trials) {
		view, err := p.Plan(image.Pt(10, 7), &draw, 3, 0, index) // 3 rows x 4 columns x 4 flips
		if err != nil {
			t.Fatal(err)
		}
		counts[view.last().View]++
	}
	const cells = 48
	square, expected := 0.0, float64(trials)/cells
	for _, n := range counts {
		square += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	// The 0.9999 quantile of chi-square with 47 degrees of freedom is 91.
	if len(counts) != cells || square > 91 {
		t.Errorf("%d kinds of view, want %d; chi-square %.1f", len(counts), cells, square)
	}
}

func TestValuesCompose(t *testing.T) {
	p := parse(t, crop("CenterCrop", 1, 1), `{"op":"Rescaling","scale":0.5,"offset":2}`,
		`{"op":"Normalization","mean":[1,2,3],"deviation":[4]}`, `{"op":"Rescaling","scale":-1}`)
	for c := range 3 {
		for _, x := range []float64{0, 10, 255} {
			want := -((x*0.5 + 2) - float64(c+1)) / 4
			if got := p.Values.Scale[c]*x + p.Values.Offset[c]; got != want {
				t.Errorf("channel %d: f(%v) = %v, want %v", c, x, got, want)
			}
		}
	}
	if parse(t, crop("CenterCrop", 1, 1)).Values != nil {
		t.Error("values change without an operation that changes them")
	}
}
