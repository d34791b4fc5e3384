package augment

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// gray is a picture of one channel.
func gray(width int, values ...uint8) pixel.Picture {
	return pixel.Picture{Pix: values, Stride: width, Width: width, Height: len(values) / width, Channels: 1}
}

// coloured is a row of pixels.
func coloured(values ...uint8) pixel.Picture {
	return pixel.Picture{Pix: values, Stride: len(values), Width: len(values) / 3, Height: 1, Channels: 3}
}

// noisy is a picture of noise.
func noisy(seed uint64, width, height, channels int) pixel.Picture {
	source := rand.NewChaCha8([32]byte{byte(seed)})
	p := pixel.Picture{Pix: make([]byte, width*height*channels), Stride: width * channels, Width: width, Height: height, Channels: channels}
	_, _ = source.Read(p.Pix)
	return p
}

func clone(p pixel.Picture) pixel.Picture {
	p.Pix = bytes.Clone(p.Pix)
	return p
}

// expect applies a filter.
func expect(t *testing.T, filter Filter, p pixel.Picture, want ...uint8) {
	t.Helper()
	before := slices.Clone(p.Pix)
	if filter.Apply(p, new(Work)); !slices.Equal(p.Pix, want) {
		t.Errorf("%v becomes %v, want %v", before, p.Pix, want)
	}
}

const draws = 20_000

// follows is a Kolmogorov-Smirnov test: 2.23 / sqrt(n) is exceeded by one sample in 10,000 that follow the law.
func follows(t *testing.T, what string, values []float64, law func(x float64) float64) {
	t.Helper()
	slices.Sort(values)
	n, distance := float64(len(values)), 0.0
	for i, x := range values {
		distance = max(distance, math.Abs(law(x)-float64(i)/n), math.Abs(float64(i+1)/n-law(x)))
	}
	if limit := 2.23 / math.Sqrt(n); distance > limit {
		t.Errorf("%s: distance %.4f from its law, limit %.4f", what, distance, limit)
	}
}

func uniform(from, to float64) func(x float64) float64 {
	return func(x float64) float64 { return min(max((x-from)/(to-from), 0), 1) }
}

// applied draws many times and returns the filters that are to be applied.
func applied(op Colour) []Filter {
	var filters []Filter
	random := rand.New(rand.NewPCG(1, 2))
	for range draws {
		if filter := op.Draw(random); filter != nil {
			filters = append(filters, filter)
		}
	}
	return filters
}

// happens tests a probability; one sample in 10,000 lies farther off than 3.9 standard deviations.
func happens(t *testing.T, op Colour, probability float64) {
	t.Helper()
	deviation := math.Sqrt(draws * probability * (1 - probability))
	if n := len(applied(op)); math.Abs(float64(n)-draws*probability) > 3.9*deviation {
		t.Errorf("%s is applied to %d of %d pictures, want a share of %v", op, n, draws, probability)
	}
}

func TestAnIntervalIsDrawnFromEvenly(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, draws)
	for i := range values {
		values[i] = interval{-0.3, 0.7}.draw(random)
	}
	follows(t, "interval", values, uniform(-0.3, 0.7))
	if got := (interval{0.3, 0.3}).draw(random); got != 0.3 {
		t.Errorf("an interval of one number gives %v", got)
	}
}

func TestTheChanceIsThatOfTheOperation(t *testing.T) {
	happens(t, &AutoContrast{chance{0.3}}, 0.3)
	happens(t, &AutoContrast{always}, 1)
	happens(t, &AutoContrast{chance{0}}, 0)
}

// everyColour is one of each, applied always, or as often as not where the operation has a probability of its own.
var everyColour = []string{
	`{"op":"AutoContrast"}`,
	`{"op":"Equalization","bins":256}`,
	`{"op":"RandomBrightness","factor":[-0.3,0.3]}`,
	`{"op":"RandomColorDegeneration","factor":[0.3,1]}`,
	`{"op":"RandomColorJitter","brightness_factor":[-0.2,0.2],"contrast_factor":[0.3,0.3],"saturation_factor":[0.3,0.7],"hue_factor":[0,0.2]}`,
	`{"op":"RandomContrast","factor":[0.3,0.5]}`,
	`{"op":"RandomErasing","factor":[0.5,0.5],"scale":[0.02,0.33]}`,
	`{"op":"RandomGaussianBlur","factor":[0.5,0.5],"kernel_size":5,"sigma":[0.5,2]}`,
	`{"op":"RandomGrayscale","factor":0.5}`,
	`{"op":"RandomHue","factor":[0,0.5]}`,
	`{"op":"RandomInvert","factor":[0.5,0.5]}`,
	`{"op":"RandomPosterization","factor":[2,6]}`,
	`{"op":"RandomSaturation","factor":[0.2,0.8]}`,
	`{"op":"RandomSharpness","factor":[0,1]}`,
	`{"op":"Solarization","addition_factor":[0,0.3],"threshold_factor":[0.3,0.7]}`,
}

func TestEveryColourIsKnown(t *testing.T) {
	known := 0
	for _, make := range operations {
		if _, colour := make().(Colour); colour {
			known++
		}
	}
	if known != len(everyColour) {
		t.Errorf("%d colour operations, of which %d are tested", known, len(everyColour))
	}
}

func TestEveryColourChangesPicturesAndLeavesAlpha(t *testing.T) {
	var draw sample.Draw
	for _, spec := range everyColour {
		for _, channels := range []int{1, 3, 4} {
			pipelines, err := Parse(raw([]string{crop("CenterCrop", 30, 40), spec}), channels)
			if err != nil {
				t.Fatal(err)
			}
			p := pipelines[0]
			changed := 0
			for index := range int64(40) {
				before := noisy(1, 40, 30, channels)
				for i := range before.Pix {
					before.Pix[i] = 30 + before.Pix[i]/2 // for AutoContrast
				}
				plan, err := p.Plan(image.Pt(40, 30), &draw, 1, 1, index)
				if err != nil {
					t.Fatal(err)
				}
				after := written(t, p.Size, plan, clone(before))
				if !bytes.Equal(after.Pix, before.Pix) {
					changed++
				}
				for i := 3; channels == 4 && i < len(after.Pix); i += 4 {
					if after.Pix[i] != before.Pix[i] {
						t.Fatalf("%s changes alpha", spec)
					}
				}
			}
			colourless := channels == 1 && (strings.Contains(spec, "Saturation") || strings.Contains(spec, "Gray") ||
				strings.Contains(spec, "Degeneration") || strings.Contains(spec, "Hue"))
			if colourless != (changed == 0) {
				t.Errorf("%s changes %d of 40 pictures of %d channels", spec, changed, channels)
			}
		}
	}
}

func TestColoursComeBeforeRescaling(t *testing.T) {
	_, err := Parse(raw([]string{crop("CenterCrop", 3, 3), `{"op":"Rescaling","scale":2}`, `{"op":"RandomGrayscale","factor":1}`}), 3)
	want := "invalid pipeline: ops[2]: RandomGrayscale(factor=1) comes before Rescaling and Normalization: it is for pictures of 0 to 255"
	if !errors.Is(err, ErrConfig) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Looking up neighbouring tables at once must give what they give one after another.
func TestTablesComposeExactly(t *testing.T) {
	filters := chain{
		brighten(0.1), stretch(1.7), solarize(0.1, 0.6), counted(spread), posterize(6), equalize(200), stretch(0.3), invert(), counted(spread),
	}
	for _, channels := range []int{1, 3, 4} {
		want, got := noisy(2, 31, 17, channels), noisy(2, 31, 17, channels)
		for _, filter := range filters {
			filter.Apply(want, new(Work))
		}
		filters.Apply(got, new(Work))
		if !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%d channels: the composed tables give something else", channels)
		}
	}
}

// oneAfterAnother applies a pipeline as its words say: every operation to the whole of what the one before left.
func oneAfterAnother(t *testing.T, p *Pipeline, picture pixel.Picture, draw *sample.Draw, seed uint64, epoch, index int64) pixel.Picture {
	for _, step := range p.steps {
		random := draw.Reset(seed, epoch, index, step.position)
		switch op := step.op.(type) {
		case Geometry:
			picture = alone(t, op, picture, random)
		case Colour:
			if filter := op.Draw(random); filter != nil {
				filter.Apply(picture, new(Work))
			}
		}
	}
	return picture
}

// bothWays is what a plan makes of the part of a picture that it decodes, and what its operations make of the picture one
// after another; and whether the part is less than the whole.
func bothWays(t *testing.T, p *Pipeline, picture pixel.Picture, draw *sample.Draw, index int64) (planned, want pixel.Picture, less bool) {
	t.Helper()
	size := image.Pt(picture.Width, picture.Height)
	plan, err := p.Plan(size, draw, 4, 2, index)
	if err != nil {
		t.Fatal(err)
	}
	planned = written(t, p.Size, plan, cutOut(t, picture, View{Window: plan.Decode}))
	return planned, oneAfterAnother(t, p, picture, draw, 4, 2, index), plan.Decode != image.Rectangle{Max: size}
}

// sameBothWays wants both to be the same.
func sameBothWays(t *testing.T, size image.Point, draw *sample.Draw, index int64, specs ...string) (less bool) {
	t.Helper()
	got, want, less := bothWays(t, parse(t, specs...), noisy(uint64(index), size.X, size.Y, 3), draw, index)
	if !bytes.Equal(got.Pix, want.Pix) {
		t.Fatalf("sample %d: the plan's pixels differ from those of\n%s", index, strings.Join(specs, "\n"))
	}
	return less
}

// written is what a plan makes of the decoded part of a picture.
func written(t *testing.T, size image.Point, plan Plan, decoded pixel.Picture) pixel.Picture {
	t.Helper()
	w, err := pixel.NewWriter(decoded.Channels, pixel.Uint8, pixel.ChannelsLast, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := pixel.Picture{Pix: make([]byte, w.Bytes(size.X, size.Y)), Stride: size.X * decoded.Channels, Width: size.X, Height: size.Y, Channels: decoded.Channels}
	if err := plan.Write(out.Pix, decoded, w, new(Work)); err != nil {
		t.Fatal(err)
	}
	return out
}

// cutOut copies what a view shows.
func cutOut(t *testing.T, p pixel.Picture, view View) pixel.Picture {
	w, err := pixel.NewWriter(p.Channels, pixel.Uint8, pixel.ChannelsLast, nil)
	if err != nil {
		t.Fatal(err)
	}
	size := view.Window.Size()
	out := pixel.Picture{Pix: make([]byte, w.Bytes(size.X, size.Y)), Stride: size.X * p.Channels, Width: size.X, Height: size.Y, Channels: p.Channels}
	if err := w.Write(out.Pix, p.Part(view.Window), view.FlipX, view.FlipY); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever is left undecoded, applied to a part alone or applied to the mirrored picture must not be seen.
func TestPlansEqualOneAfterAnother(t *testing.T) {
	// Noise does not follow mirrors, so rectangles are filled.
	colours := slices.Clone(everyColour)
	for i, spec := range colours {
		colours[i] = strings.Replace(spec, `"scale":`, `"fill_value":[1,2,3],"scale":`, 1)
	}
	random := rand.New(rand.NewPCG(9, 9))
	var draw sample.Draw
	smaller := 0
	for index := range int64(600) {
		specs := []string{}
		for range random.IntN(3) {
			specs = append(specs, colours[random.IntN(len(colours))])
		}
		for _, geometry := range []string{
			flip("horizontal_and_vertical"), crop("RandomCrop", 41, 47), crop("RandomCrop", 35, 36), flip("horizontal"), crop("CenterCrop", 20, 21),
		} {
			specs = append(specs, geometry)
			for range random.IntN(3) {
				specs = append(specs, colours[random.IntN(len(colours))])
			}
		}
		if sameBothWays(t, image.Pt(60, 50), &draw, index, specs...) {
			smaller++
		}
	}
	if smaller < 50 {
		t.Errorf("only %d of 600 plans decode less than the whole picture", smaller)
	}
}

func TestOnlyWhatIsNeededIsDecoded(t *testing.T) {
	size := image.Pt(100, 80)
	middle := image.Rect(40, 35, 60, 45)
	blur := `{"op":"RandomGaussianBlur","factor":[1,1],"kernel_size":7,"sigma":[1,1]}`
	for name, test := range map[string]struct {
		specs []string
		want  image.Rectangle
	}{
		"no colour":       {nil, middle},
		"single pixels":   {[]string{`{"op":"RandomHue","factor":[1,1]}`}, middle},
		"values":          {[]string{`{"op":"RandomInvert","factor":[1,1]}`}, middle},
		"neighbours":      {[]string{blur}, middle.Inset(-3)},
		"twice":           {[]string{blur, `{"op":"RandomSharpness","factor":[1,1]}`}, middle.Inset(-4)},
		"everything":      {[]string{`{"op":"AutoContrast"}`}, image.Rectangle{Max: size}},
		"of a crop":       {[]string{crop("CenterCrop", 30, 40), `{"op":"AutoContrast"}`}, image.Rect(30, 25, 70, 55)},
		"not applied":     {[]string{`{"op":"AutoContrast","p":0}`}, middle},
		"to a crop's end": {[]string{crop("CenterCrop", 12, 40), blur}, image.Rect(37, 34, 63, 46)},
	} {
		p := parse(t, append(test.specs, crop("CenterCrop", 10, 20))...)
		plan, err := p.Plan(size, new(sample.Draw), 1, 1, 1)
		if err != nil || plan.Decode != test.want || plan.last().Window != middle {
			t.Errorf("%s: %v decoded, want %v (%v)", name, plan.Decode, test.want, err)
		}
	}
}

func TestChainsReachAsFarAsTheirFiltersTogether(t *testing.T) {
	blurs := chain{sharpen(1), &blur{along: make([]float32, 4), across: make([]float32, 4)}, brighten(1)}
	if got := blurs.Reach(); got != 4 {
		t.Errorf("reach %d, want 4", got)
	}
	if got := append(blurs, stretch(2)).Reach(); got != Whole {
		t.Errorf("reach %d, want Whole", got)
	}
}

func TestUnreadableArgumentsAreRefused(t *testing.T) {
	for _, spec := range everyColour {
		broken := json.RawMessage(strings.NewReplacer(":[", `:["x",`, ":256", `:"x"`, ":0.5", `:"x"`).Replace(spec))
		if _, err := Parse([]json.RawMessage{broken}, 3); spec != everyColour[0] && !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", broken, err)
		}
	}
}
