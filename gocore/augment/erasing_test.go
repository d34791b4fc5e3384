package augment

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

func TestErasingFillsTheRectangle(t *testing.T) {
	e := &erasing{left: 0.25, top: 0, width: 0.5, height: 0.5, fill: &[3]uint8{1, 2, 3}}
	zero := func() []uint8 { return make([]uint8, 4*2*3) }
	p := coloured(zero()...)
	p.Stride, p.Width, p.Height = 12, 4, 2
	expect(t, e, p, 0, 0, 0, 1, 2, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

func TestErasingCountsFromTheMirroredSide(t *testing.T) {
	for _, test := range []struct {
		flipX, flipY bool
		want         image.Rectangle
	}{
		{false, false, image.Rect(1, 0, 2, 1)}, {true, false, image.Rect(3, 0, 4, 1)},
		{false, true, image.Rect(1, 2, 2, 3)}, {true, true, image.Rect(3, 2, 4, 3)},
	} {
		p := gray(5, make([]uint8, 15)...)
		e := &erasing{left: 0.2, top: 0, width: 0.2, height: 0.3, fill: &[3]uint8{9}}
		e.Apply(p, &Work{FlipX: test.flipX, FlipY: test.flipY})
		for i, value := range p.Pix {
			if (value == 9) != image.Pt(i%5, i/5).In(test.want) {
				t.Fatalf("%v is filled, want %v", p.Pix, test.want)
			}
		}
	}
}

func TestErasingHoldsThePixelsWhoseCoordinatesLieWithin(t *testing.T) {
	for _, filter := range applied(&RandomErasing{interval{1, 1}, interval{0, 1}, nil})[:500] {
		e := filter.(*erasing)
		r := e.rectangle(17, 5)
		for y := range 5 {
			for x := range 17 {
				within := float64(x) >= e.left*17 && float64(x) < (e.left+e.width)*17 &&
					float64(y) >= e.top*5 && float64(y) < (e.top+e.height)*5
				if within != image.Pt(x, y).In(r) {
					t.Fatalf("%+v on 17 x 5 gives %v", e, r)
				}
			}
		}
	}
}

func TestErasingDrawsItsRectangle(t *testing.T) {
	op := &RandomErasing{interval{0, 1}, interval{0.1, 0.4}, nil}
	happens(t, op, 0.5)
	var widths, heights, lefts, tops []float64
	for _, filter := range applied(op) {
		e := filter.(*erasing)
		widths, heights = append(widths, e.width*e.width), append(heights, e.height*e.height)
		lefts, tops = append(lefts, e.left/(1-e.width)), append(tops, e.top/(1-e.height))
	}
	follows(t, "width squared", widths, uniform(0.1, 0.4))
	follows(t, "height squared", heights, uniform(0.1, 0.4))
	follows(t, "left", lefts, uniform(0, 1))
	follows(t, "top", tops, uniform(0, 1))
}

func normal(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }

func TestErasingsNoiseIsClippedNormalNoise(t *testing.T) {
	values := noise{source: *rand.NewPCG(1, 2), levels: noiseLevels()}
	var counts [256]float64
	const n = 1 << 20
	for range n {
		counts[values.next()]++
	}
	below := 0.0
	for level, count := range counts[:255] {
		below += count / n
		if want := normal((float64(level) + 0.5) / 255); math.Abs(below-want) > 2.23/1024 {
			t.Fatalf("a share of %.5f up to level %d, want %.5f", below, level, want)
		}
	}
}

// math.Erf rounds differently from machine to machine in its last bits, which must not move a level.
func TestTheNoiseTableIsTheSameEverywhere(t *testing.T) {
	for level := range 255 {
		step := normal((float64(level)+0.5)/255)*(1<<16) - 0.5
		if distance := math.Abs(step - math.Round(step)); distance < 1e-6 {
			t.Errorf("level %d is %g steps from its neighbour", level, distance)
		}
	}
}
