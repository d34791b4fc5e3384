// Package augment says what happens to a picture. Every operation draws its parameters from the picture's
// size alone and composes them; only then is the picture decoded, just where it is needed, and written once.
package augment

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

var (
	// ErrConfig is a pipeline that no picture could go through.
	ErrConfig = errors.New("invalid pipeline")
	// ErrSize is a picture that is too small for its pipeline.
	ErrSize = errors.New("picture too small")
)

// View is what the operations so far show of a picture: a window of it, perhaps flipped.
type View struct {
	Window       image.Rectangle // in the picture's own frame
	FlipX, FlipY bool
}

// crop keeps a part of what the view shows, flips included.
func (v *View) crop(part image.Rectangle) {
	v.Window = mirrored(part, v.Window.Size(), v.FlipX, v.FlipY).Add(v.Window.Min)
}

// mirrored is where a part of a picture of the given size lies once the picture is flipped.
func mirrored(part image.Rectangle, size image.Point, flipX, flipY bool) image.Rectangle {
	if flipX {
		part.Min.X, part.Max.X = size.X-part.Max.X, size.X-part.Min.X
	}
	if flipY {
		part.Min.Y, part.Max.Y = size.Y-part.Max.Y, size.Y-part.Min.Y
	}
	return part
}

// Geometry moves pixels: it draws, and composes with what came before.
type Geometry interface {
	fmt.Stringer
	// OutputSize is the size the operation leaves; the zero Point stands for one that differs from picture to picture.
	OutputSize(in image.Point) (image.Point, error)
	Apply(plan *Plan, random *rand.Rand) error
}

// Pointwise changes values by y = x*scale + offset, channel by channel.
type Pointwise interface {
	Compose(scale, offset []float64)
}

type step struct {
	op       any // a Geometry or a Colour
	position int // the operation's place in the user's list, which keys its random numbers
}

// Pipeline is a checked list of operations, up to an external one or the end.
type Pipeline struct {
	steps    []step
	Size     image.Point   // of every picture that comes out; zero where it differs, which it does not in the last one
	Values   *pixel.Affine // nil where values stay as they are; in the last one only
	Bytes    bool          // some operation so far is for 8-bit pictures alone
	External *External     // what follows it: always, but for the last one, which it follows where it is for floats
}

// operations makes an operation by its name.
var operations = map[string]func() any{
	"RandomCrop":        func() any { return &RandomCrop{IfSmaller: "error"} },
	"CenterCrop":        func() any { return new(CenterCrop) },
	"Resizing":          func() any { return new(Resizing) },
	"ResizeShorter":     func() any { return new(ResizeShorter) },
	"ResizeWithPad":     func() any { return new(ResizeWithPad) },
	"RandomResizedCrop": func() any { return new(RandomResizedCrop) },
	"RandomFlip":        func() any { return new(RandomFlip) },
	"Pad":               func() any { return new(Pad) },
	"RandomRotation":    func() any { return new(RandomRotation) },
	"RandomTranslation": func() any { return new(RandomTranslation) },
	"RandomZoom":        func() any { return new(RandomZoom) },
	"RandomShear":       func() any { return new(RandomShear) },
	"RandomPerspective": func() any { return new(RandomPerspective) },
	"Rescaling":         func() any { return new(Rescaling) },
	"Normalization":     func() any { return new(Normalization) },

	"AutoContrast":            func() any { return &AutoContrast{always} },
	"Equalization":            func() any { return &Equalization{chance: always} },
	"RandomBrightness":        func() any { return &RandomBrightness{chance: always} },
	"RandomColorDegeneration": func() any { return &RandomColorDegeneration{chance: always} },
	"RandomColorJitter":       func() any { return &RandomColorJitter{chance: always} },
	"RandomContrast":          func() any { return &RandomContrast{chance: always} },
	"RandomErasing":           func() any { return new(RandomErasing) },
	"RandomGaussianBlur":      func() any { return new(RandomGaussianBlur) },
	"RandomGrayscale":         func() any { return new(RandomGrayscale) },
	"RandomHue":               func() any { return &RandomHue{chance: always} },
	"RandomInvert":            func() any { return new(RandomInvert) },
	"RandomPosterization":     func() any { return &RandomPosterization{chance: always} },
	"RandomSaturation":        func() any { return &RandomSaturation{chance: always} },
	"RandomSharpness":         func() any { return &RandomSharpness{chance: always} },
	"Solarization":            func() any { return &Solarization{chance: always} },

	"RandomApply":        func() any { return new(RandomApply) },
	"OneOf":              func() any { return &OneOf{Times: 1} },
	"RandomOrder":        func() any { return new(RandomOrder) },
	"AutoAugment":        func() any { return new(AutoAugment) },
	"TrivialAugmentWide": func() any { return new(TrivialAugmentWide) },
	"AugMix":             func() any { return new(AugMix) },

	"Python": func() any { return new(External) },
	"Native": func() any { return new(External) },
}

// read makes an operation from a JSON object with its name as "op" beside its arguments.
func read(spec json.RawMessage) (any, error) {
	var name struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(spec, &name); err != nil {
		return nil, err
	}
	make, known := operations[name.Op]
	if !known {
		return nil, fmt.Errorf("unknown operation %q", name.Op)
	}
	op := make()
	if err := json.Unmarshal(spec, op); err != nil {
		return nil, fmt.Errorf("%s: %w", name.Op, err)
	}
	return op, nil
}

// Parse reads a list of operations, each a JSON object, and cuts it at external ones.
func Parse(specs []json.RawMessage, channels int) ([]*Pipeline, error) {
	last := new(Pipeline)
	pipelines := []*Pipeline{last}
	scale, offset := make([]float64, channels), make([]float64, channels)
	for c := range scale {
		scale[c] = 1
	}
	for position, spec := range specs {
		op, err := read(spec)
		external, isExternal := op.(*External)
		switch {
		case err != nil:
		case last.External != nil:
			err = errAfterFloat
		case isExternal:
			external.Position, external.Float = position, last.Values != nil
			last.External, last.Bytes = external, true
			if !external.Float {
				last = &Pipeline{Size: external.OutputSize(last.Size), Bytes: true}
				pipelines = append(pipelines, last)
			}
			err = external.check()
		default:
			err = last.add(op, position, scale, offset)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: ops[%d]: %w", ErrConfig, position, err)
		}
	}
	if last.Size == (image.Point{}) {
		return nil, fmt.Errorf("%w: ops: the output size is not fixed: add RandomCrop, CenterCrop or Resizing", ErrConfig)
	}
	if last.Values != nil {
		*last.Values = pixel.Affine{Scale: scale, Offset: offset}
	}
	return pipelines, nil
}

func (p *Pipeline) add(op any, position int, scale, offset []float64) error {
	if op, ok := op.(Pointwise); ok {
		op.Compose(scale, offset)
		p.Values = new(pixel.Affine)
		return nil
	}
	if levels(op) && p.Values != nil {
		return fmt.Errorf("%s comes before Rescaling and Normalization: it is for pictures of 0 to 255", op)
	}
	var err error
	if p.Size, err = outputSize(op, p.Size); err != nil {
		return err
	}
	p.Bytes = p.Bytes || !movesAlone(op)
	p.steps = append(p.steps, step{op, position})
	return nil
}

// levels tells whether what the operation does depends on what values stand for.
func levels(op any) bool {
	switch op := op.(type) {
	case Colour:
		return true
	case interface{ levels() bool }:
		return op.levels()
	}
	return false
}

// movesAlone tells whether every pixel that comes out is one that went in.
func movesAlone(op any) bool {
	switch op := op.(type) {
	case *CenterCrop, *RandomFlip:
		return true
	case *RandomCrop:
		return op.IfSmaller == "error"
	}
	return false
}

// Plan draws the parameters for one sample whose picture has the given size. The same seed, epoch and index
// give the same plan.
func (p *Pipeline) Plan(size image.Point, draw *sample.Draw, seed uint64, epoch, index int64) (Plan, error) {
	plan := whole(size)
	for _, step := range p.steps {
		if err := plan.apply(step.op, draw.Reset(seed, epoch, index, step.position)); err != nil {
			return Plan{}, err
		}
	}
	plan.narrow()
	return plan, nil
}

// apply draws an operation's parameters and composes it.
func (p *Plan) apply(op any, random *rand.Rand) error {
	p.trace.begin(op)
	defer p.trace.end()
	switch op := op.(type) {
	case Geometry:
		return op.Apply(p, random)
	case Colour:
		if filter := op.Draw(random); filter != nil {
			p.add(filter)
		}
	}
	return nil
}
