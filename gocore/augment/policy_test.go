package augment

import (
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// parsed makes one operation.
func parsed(t *testing.T, spec string) Geometry {
	t.Helper()
	op, err := read([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	return op.(Geometry)
}

// likely tests counts against probabilities: chi-square exceeds the limit once in 10,000 times (Wilson and Hilferty, 1931).
func likely(t *testing.T, what string, counts map[string]int, probabilities map[string]float64) {
	t.Helper()
	total := 0
	for name, count := range counts {
		total += count
		if probabilities[name] == 0 {
			t.Errorf("%s: %d times %q, which cannot be", what, count, name)
		}
	}
	square, cells := 0.0, -1.0
	for name, probability := range probabilities {
		if probability > 0 {
			expected := probability * float64(total)
			square += (float64(counts[name]) - expected) * (float64(counts[name]) - expected) / expected
			cells++
		}
	}
	limit := cells * math.Pow(1-2/(9*cells)+3.72*math.Sqrt(2/(9*cells)), 3)
	if cells > 0 && square > limit {
		t.Errorf("%s: chi-square %.1f, limit %.1f: %v", what, square, limit, counts)
	}
}

// outcome names what a plan does, by what it makes of a row of pixels.
func outcome(t *testing.T, op Geometry, random *rand.Rand) string {
	t.Helper()
	plan := whole(image.Pt(4, 1))
	if err := op.Apply(&plan, random); err != nil {
		t.Fatal(err)
	}
	plan.narrow()
	picture := pixel.Picture{Pix: []byte{10, 20, 30, 40}, Stride: 4, Width: 4, Height: 1, Channels: 1}
	return string(written(t, image.Pt(4, 1), plan, picture).Pix)
}

const (
	add10     = `{"op":"RandomBrightness","factor":[0.0392157,0.0392157]}`
	inverted  = `{"op":"RandomInvert","factor":[1,1]}`
	quantized = `{"op":"RandomPosterization","factor":[4,4]}`
)

func TestPoliciesFollowTheirLaws(t *testing.T) {
	const start = "\x0a\x14\x1e\x28"
	const brighter, other, coarse = "\x14\x1e\x28\x32", "\xf5\xeb\xe1\xd7", "\x00\x10\x10\x20"
	const brighterThenOther, otherThenBrighter = "\xeb\xe1\xd7\xcd", "\xff\xf5\xeb\xe1"
	for name, test := range map[string]struct {
		spec string
		want map[string]float64
	}{
		"apply": {`{"op":"RandomApply","p":0.3,"ops":[` + add10 + `,` + inverted + `]}`,
			map[string]float64{start: 0.7, brighterThenOther: 0.3}},
		"one": {`{"op":"OneOf","ops":[` + add10 + `,` + inverted + `,` + quantized + `]}`,
			map[string]float64{brighter: 1. / 3, other: 1. / 3, coarse: 1. / 3}},
		"weighted": {`{"op":"OneOf","weights":[1,0,3],"ops":[` + add10 + `,` + inverted + `,` + quantized + `]}`,
			map[string]float64{brighter: 0.25, coarse: 0.75}},
		"twice": {`{"op":"OneOf","times":2,"ops":[` + add10 + `,` + inverted + `]}`,
			map[string]float64{"\x1e\x28\x32\x3c": 0.25, start: 0.25, brighterThenOther: 0.25, otherThenBrighter: 0.25}},
		"order": {`{"op":"RandomOrder","ops":[` + add10 + `,` + inverted + `]}`,
			map[string]float64{brighterThenOther: 0.5, otherThenBrighter: 0.5}},
		"nested": {`{"op":"RandomApply","p":0.5,"ops":[{"op":"OneOf","ops":[` + inverted + `,` + quantized + `]}]}`,
			map[string]float64{start: 0.5, other: 0.25, coarse: 0.25}},
	} {
		op := parsed(t, test.spec)
		if _, err := op.OutputSize(image.Pt(4, 1)); err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(4, 4))
		counts := map[string]int{}
		for range draws {
			counts[outcome(t, op, random)]++
		}
		likely(t, name, counts, test.want)
	}
}

func TestPoliciesMayNotLeaveTheSizeToChance(t *testing.T) {
	small, large := resizing("keras", 10, 10), resizing("keras", 20, 20)
	for spec, want := range map[string]string{
		`{"op":"RandomApply","p":0.5,"ops":[` + small + `]}`:               "changes the size",
		`{"op":"RandomOrder","ops":[` + small + `]}`:                       "changes the size",
		`{"op":"OneOf","ops":[` + small + `,` + large + `]}`:               "leaves another size",
		`{"op":"OneOf","ops":[]}`:                                          "no operations",
		`{"op":"OneOf","ops":[{"op":"Rescaling","scale":2}]}`:              "has its place after",
		`{"op":"OneOf","weights":[1],"ops":[` + small + `,` + small + `]}`: "weights",
	} {
		_, err := Parse(raw([]string{spec, crop("CenterCrop", 4, 4)}), 3)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	parse(t, `{"op":"OneOf","ops":[`+small+`,`+resizedCrop("keras", 10, 10)+`]}`)
}

var everyPolicy = []string{
	`{"op":"AutoAugment",` + filled("constant", "nearest") + `}`,
	`{"op":"TrivialAugmentWide","num_magnitude_bins":31,` + filled("constant", "bilinear") + `}`,
	`{"op":"AugMix","num_chains":3,"chain_depth":2,"alpha":1,"ops":[` + inverted + `,` + quantized + `,` + add10 + `,
		{"op":"RandomShear","x_factor":[0,0.3],"y_factor":[0,0.3],` + filled("reflect", "nearest") + `}]}`,
	`{"op":"OneOf","times":2,"ops":[` + strings.Join(everyColour, ",") + `]}`,
}

// A policy on a part, or on a mirrored picture, must give what it gives on the whole.
func TestPolicyPlansEqualOneAfterAnother(t *testing.T) {
	var draw sample.Draw
	random := rand.New(rand.NewPCG(5, 6))
	for index := range int64(300) {
		policy := everyPolicy[int(index)%len(everyPolicy)]
		specs := []string{crop("RandomCrop", 40, 50), policy, everyColour[random.IntN(len(everyColour))], crop("CenterCrop", 24, 26)}
		if strings.Contains(strings.Join(specs, ""), "RandomErasing") {
			continue // its noise follows the place
		}
		sameBothWays(t, image.Pt(60, 55), &draw, index, specs...)
	}
}

func TestMirroringBeforeAMixtureIsMirroringThePicture(t *testing.T) {
	var draw sample.Draw
	for index := range int64(20) {
		sameBothWays(t, image.Pt(40, 30), &draw, index, flip("horizontal_and_vertical"), everyPolicy[2], crop("CenterCrop", 30, 40))
	}
}

func TestTrivialAugmentDrawsEveryOperationAlike(t *testing.T) {
	op := parsed(t, everyPolicy[1]).(*TrivialAugmentWide)
	random := rand.New(rand.NewPCG(3, 3))
	counts, want := map[string]int{}, map[string]float64{}
	for range draws {
		plan := whole(image.Pt(100, 100))
		if err := op.Apply(&plan, random); err != nil {
			t.Fatal(err)
		}
		kind := "colour"
		if len(plan.stages) > 1 {
			kind = "geometry"
		} else if len(plan.last().filters) == 0 {
			kind = "none"
		}
		counts[kind]++
	}
	// Five move pixels, by none in one of 31 magnitudes; one does nothing.
	want["geometry"] = 5. / 14 * 30 / 31
	want["none"] = 1./14 + 5./14/31
	want["colour"] = 8. / 14
	likely(t, "kinds", counts, want)
}
