package mix

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"math"
	"slices"
	"testing"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// follows is a Kolmogorov-Smirnov test: 2.23 / sqrt(n) is exceeded by one sample in 10,000 that follow the law.
func follows(t *testing.T, what string, values []float64, law func(x float64) float64) {
	t.Helper()
	slices.Sort(values)
	n, distance := float64(len(values)), 0.0
	for i, x := range values {
		distance = max(distance, math.Abs(law(x)-float64(i)/n), math.Abs(float64(i+1)/n-law(x)))
	}
	if limit := 2.23 / math.Sqrt(n); distance > limit {
		t.Errorf("%s: distance %.4f from the law, limit %.4f", what, distance, limit)
	}
}

func TestPartnersAreAnyPermutation(t *testing.T) {
	for _, op := range []Operation{&MixUp{0.2}, &CutMix{[2]float64{0, 1}}} {
		seen := map[[3]int]int{}
		for i := range 6000 {
			shares := op.Draw(sample.Random(1, 0, int64(i), 0), 3, image.Pt(5, 5))
			seen[[3]int{shares[0].Partner, shares[1].Partner, shares[2].Partner}]++
		}
		if len(seen) != 6 {
			t.Errorf("%s: %v", op, seen)
		}
		for order, count := range seen {
			if count < 870 || count > 1130 { // 4.5 standard deviations
				t.Errorf("%s: %v %d times of 6000", op, order, count)
			}
		}
	}
}

func TestCutMixTakesAPartOfThePictureAndCountsItsPixels(t *testing.T) {
	op := CutMix{[2]float64{1, 1}} // the share of the area is even
	size := image.Pt(640, 480)
	var weights, lefts []float64
	for i := range 2000 {
		for _, share := range op.Draw(sample.Random(9, 0, int64(i), 0), 10, size) {
			area := share.Part.Dx() * share.Part.Dy()
			if !share.Part.In(image.Rectangle{Max: size}) || share.Weight != float32(1-float64(area)/float64(640*480)) {
				t.Fatalf("%+v", share)
			}
			if share.Part.Dx() > 20 && math.Abs(float64(share.Part.Dy())/float64(share.Part.Dx())-0.75) > 0.1 {
				t.Fatalf("the aspect ratio of %v", share.Part)
			}
			weights = append(weights, float64(share.Weight))
			if room := 640 - share.Part.Dx(); room > 200 {
				lefts = append(lefts, float64(share.Part.Min.X)/float64(room+1))
			}
		}
	}
	follows(t, "weight", weights, func(x float64) float64 { return x })
	if half := len(lefts) / 2; len(lefts) < 1000 || math.Abs(slices.Sorted(slices.Values(lefts))[half]-0.5) > 0.03 {
		t.Errorf("the median of %d places is not the middle", len(lefts))
	}
}

// rows are float32 rows.
func rows(values [][]float32) (func(int) []byte, [][]byte) {
	memory := make([][]byte, len(values))
	for i, row := range values {
		memory[i], _ = binary.Append(nil, binary.LittleEndian, row)
	}
	return func(slot int) []byte { return memory[slot] }, memory
}

func TestMixingInPlaceIsMixingOfWhatWasThere(t *testing.T) {
	var mixer Mixer
	for i := range 300 {
		random := sample.Random(3, 0, int64(i), 0)
		samples := random.IntN(9) + 1
		before := make([][]float32, samples)
		for slot := range before {
			before[slot] = []float32{random.Float32(), random.Float32(), random.Float32()}
		}
		shares := (&MixUp{1}).Draw(random, samples, image.Pt(1, 1))
		row, memory := rows(before)
		mixer.Labels(shares, row)
		for slot, share := range shares {
			for c, x := range before[slot] {
				want := float32(share.Weight*x) + float32((1-share.Weight)*before[share.Partner][c])
				if share.Partner == slot {
					want = x
				}
				if got := math.Float32frombits(binary.LittleEndian.Uint32(memory[slot][4*c:])); got != want {
					t.Fatalf("%v, want %v", got, want)
				}
			}
		}
	}
}

func TestAPartIsReplacedInBothLayouts(t *testing.T) {
	size, part := image.Pt(4, 3), image.Rect(1, 1, 3, 3)
	for _, planar := range []bool{false, true} {
		form := Pictures{DType: pixel.Uint16, Size: size, Channels: 3, Planar: planar}
		first, second := make([]byte, 72), slices.Repeat([]byte{1}, 72)
		memory := [][]byte{first, second}
		shares := []Share{{1, 0.5, part}, {0, 0.5, part}}
		new(Mixer).Pictures(shares, func(slot int) []byte { return memory[slot] }, form)
		for i := range first {
			at := image.Pt(i/6%4, i/24)
			if planar {
				at = image.Pt(i/2%4, i/8%3)
			}
			want := byte(0)
			if at.In(part) {
				want = 1
			}
			if first[i] != want || second[i] != 1-want {
				t.Fatalf("planar %t: byte %d, pixel %v: %d and %d", planar, i, at, first[i], second[i])
			}
		}
	}
}

func TestOperationsThatCannotBe(t *testing.T) {
	for _, spec := range []string{
		"{", `{"op":"Other"}`, `{"op":"MixUp","alpha":0}`, `{"op":"MixUp","alpha":"a"}`,
		`{"op":"CutMix","factor":[0.5,0.2]}`, `{"op":"CutMix","factor":[0,1.5]}`,
	} {
		if _, err := Parse(json.RawMessage(spec)); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if op, err := Parse(json.RawMessage(`{"op":"CutMix","factor":[0,0.5]}`)); err != nil || op.String() != "CutMix(factor=[0 0.5])" {
		t.Errorf("%v, %v", op, err)
	}
}
