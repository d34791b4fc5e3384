package pixel

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// bordered returns a part of the padded picture, made from no more of it than that needs.
func bordered(t *testing.T, b Border, src Picture, out image.Rectangle) []byte {
	t.Helper()
	input := image.Pt(src.Width, src.Height)
	needs := b.Needs(input, out)
	if needs.Empty() || !needs.In(image.Rectangle{Max: input}) {
		t.Fatalf("%+v, %v: needs %v of %v", b, out, needs, input)
	}
	dst := make([]byte, out.Dx()*out.Dy()*src.Channels)
	if err := b.Copy(dst, src.Part(needs), needs.Min, input, out); err != nil {
		t.Fatal(err)
	}
	return dst
}

func TestBorderIsLikeNumPy(t *testing.T) {
	for name, samples := range arrays(t, "border") {
		var mode string
		var value float64
		var input image.Point
		var b Border
		_, err := fmt.Sscan(name, &mode, &value, &input.X, &input.Y, &b.Left, &b.Top, &b.Right, &b.Bottom)
		if err != nil {
			t.Fatal(err)
		}
		for b.Fill.Mode.String() != mode {
			b.Fill.Mode++
		}
		b.Fill.Value = [MaxChannels]float64{value, value, value}
		size := b.Size(input)
		got := bordered(t, b, goldenPicture(input.X, input.Y), image.Rectangle{Max: size})
		if !bytes.Equal(got, samples) {
			t.Errorf("%s: %v, not %v", name, got, samples)
		}
	}
}

func TestBorderPartsAreTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 52))
	for range 3000 {
		channels := []int{1, 3, 4}[random.IntN(3)]
		src := randomPicture(random, 1+random.IntN(9), 1+random.IntN(9), channels)
		side := func() int { return random.IntN(30) * random.IntN(2) }
		b := Border{side(), side(), side(), side(), Fill{Mode: FillMode(random.IntN(4)), Value: [MaxChannels]float64{1, 2, 3, 4}}}
		size := b.Size(image.Pt(src.Width, src.Height))
		whole := bordered(t, b, src, image.Rectangle{Max: size})
		part := randomPart(random, size)
		got := bordered(t, b, src, part)
		row := part.Dx() * channels
		for y := range part.Dy() {
			start := ((part.Min.Y+y)*size.X + part.Min.X) * channels
			if !bytes.Equal(got[y*row:(y+1)*row], whole[start:start+row]) {
				t.Fatalf("%+v around %d by %d, %v: row %d differs", b, src.Width, src.Height, part, y)
			}
		}
	}
}

func TestBorderConstantIsRounded(t *testing.T) {
	src := Picture{[]byte{9}, 1, 1, 1, 1, false}
	for value, want := range map[float64]byte{0.5: 0, 1.5: 2, 2.4: 2, -3: 0, 300: 255, 254.6: 255} {
		b := Border{Right: 1, Fill: Fill{Value: [MaxChannels]float64{value}}}
		if got := bordered(t, b, src, image.Rect(0, 0, 2, 1)); got[0] != 9 || got[1] != want {
			t.Errorf("%g: %v", value, got)
		}
	}
}

func TestBorderNeedsOnlyWhatMatters(t *testing.T) {
	sides := Border{Left: 1000, Top: 10, Right: 20, Bottom: 20}
	for _, test := range []struct {
		mode      FillMode
		out, want image.Rectangle
	}{
		{FillConstant, image.Rect(1000, 10, 1100, 60), image.Rect(0, 0, 100, 50)},
		{FillConstant, image.Rect(990, 0, 1010, 20), image.Rect(0, 0, 10, 10)},
		{FillConstant, image.Rect(0, 0, 1000, 80), image.Rect(0, 0, 1, 1)},
		{FillNearest, image.Rect(0, 0, 1000, 80), image.Rect(0, 0, 1, 50)},
		{FillReflect, image.Rect(990, 20, 1005, 30), image.Rect(0, 10, 10, 20)},
		{FillReflect, image.Rect(1090, 20, 1115, 30), image.Rect(85, 10, 100, 20)},
		{FillWrap, image.Rect(990, 20, 1000, 30), image.Rect(90, 10, 100, 20)},
		{FillWrap, image.Rect(0, 20, 1000, 30), image.Rect(0, 10, 100, 20)},
	} {
		b := sides
		b.Fill.Mode = test.mode
		if got := b.Needs(image.Pt(100, 50), test.out); got != test.want {
			t.Errorf("%s, %v: %v, not %v", test.mode, test.out, got, test.want)
		}
	}
}

func TestBorderRefuses(t *testing.T) {
	good := Border{Left: 1, Top: 2, Right: 3, Bottom: 4}
	src := Picture{make([]byte, 4*4*3), 12, 4, 4, 3, false}
	input, all := image.Pt(4, 4), image.Rect(0, 0, 8, 10)
	dst := bytes.Repeat([]byte{1}, 8*10*3)
	refused := func(b Border, dst []byte, src Picture, origin, input image.Point, out image.Rectangle, want error) {
		t.Helper()
		if err := b.Copy(dst, src, origin, input, out); !errors.Is(err, want) {
			t.Errorf("%+v, %d bytes, %v at %v, %v, %v: %v", b, len(dst), src, origin, input, out, err)
		}
	}
	for _, b := range []Border{{Left: -1}, {Top: -1}, {Right: -1}, {Bottom: math.MinInt}, {Left: math.MaxInt}} {
		refused(b, dst, src, image.Point{}, input, all, ErrSize)
	}
	refused(Border{Fill: Fill{Mode: 4}}, dst, src, image.Point{}, input, all, ErrResampling)
	refused(Border{Fill: Fill{Value: [4]float64{math.NaN()}}}, dst, src, image.Point{}, input, all, ErrResampling)
	for _, out := range []image.Rectangle{{}, image.Rect(-1, 0, 7, 10), image.Rect(1, 0, 9, 10), image.Rect(0, 0, 8, 9)} {
		refused(good, dst, src, image.Point{}, input, out, ErrSize)
	}
	refused(good, dst[1:], src, image.Point{}, input, all, ErrSize)
	refused(good, nil, src, image.Point{}, input, all, ErrSize)
	refused(good, dst, src, image.Pt(1, 0), input, all, ErrSize)
	refused(good, dst, src, image.Point{}, image.Pt(0, 4), all, ErrSize)
	refused(good, dst, src.Part(image.Rect(0, 0, 4, 3)), image.Point{}, input, all, ErrSize)
	refused(good, dst, Picture{src.Pix, 12, 2, 4, 3, true}, image.Point{}, image.Pt(2, 4), image.Rect(0, 0, 6, 10), ErrSize)
	if bytes.Count(dst, []byte{1}) != len(dst) {
		t.Error("a refused picture was written")
	}
}
