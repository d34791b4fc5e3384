package augment

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
)

// list holds the operations inside another one.
type list []any

// UnmarshalJSON reads what Parse reads, of operations that have a place in a list within the list.
func (l *list) UnmarshalJSON(text []byte) error {
	var specs []json.RawMessage
	if err := json.Unmarshal(text, &specs); err != nil {
		return err
	}
	*l = nil
	for _, spec := range specs {
		op, err := read(spec)
		if err != nil {
			return err
		}
		switch op.(type) {
		case Pointwise:
			return fmt.Errorf("%T has its place after all that are for pictures of 0 to 255", op)
		case *External:
			return fmt.Errorf("%s has its place in the list itself, not within another operation", op)
		}
		*l = append(*l, op)
	}
	return nil
}

func (l list) levels() bool { return slices.ContainsFunc(l, levels) }

// same checks that no operation changes the size, which would then depend on chance.
func (l list) same(in image.Point) (image.Point, error) {
	if len(l) == 0 {
		return in, errors.New("no operations")
	}
	for _, op := range l {
		if out, err := outputSize(op, in); err != nil {
			return in, err
		} else if out != in {
			return in, fmt.Errorf("%s changes the size, which must not depend on chance", op)
		}
	}
	return in, nil
}

// outputSize is OutputSize, of colours too; its error names the operation.
func outputSize(op any, in image.Point) (image.Point, error) {
	geometry, ok := op.(Geometry)
	if !ok {
		return in, nil
	}
	out, err := geometry.OutputSize(in)
	if err != nil {
		err = fmt.Errorf("%s: %w", geometry, err)
	}
	return out, err
}

// applyAll applies all, in the given order.
func (p *Plan) applyAll(ops list, random *rand.Rand) error {
	for _, op := range ops {
		if err := p.apply(op, random); err != nil {
			return err
		}
	}
	return nil
}

// RandomApply applies its operations, all or none, as torchvision.transforms.RandomApply does.
type RandomApply struct {
	Ops list
	P   float64
}

func (r *RandomApply) String() string { return fmt.Sprintf("RandomApply(p=%v)", r.P) }

// OutputSize is that of the input.
func (r *RandomApply) OutputSize(in image.Point) (image.Point, error) {
	return r.Ops.same(in)
}

func (r *RandomApply) levels() bool { return r.Ops.levels() }

// Apply draws whether.
func (r *RandomApply) Apply(plan *Plan, random *rand.Rand) error {
	if random.Float64() >= r.P {
		return nil
	}
	return plan.applyAll(r.Ops, random)
}

// OneOf applies one of its operations, drawn with weights, or several times one.
type OneOf struct {
	Ops     list
	Weights []float64 // nil where all are the same
	Times   int       // as in RandAugment: each time one of all
}

func (o *OneOf) String() string { return fmt.Sprintf("OneOf(%d operations)", len(o.Ops)) }

// OutputSize is that of the input.
func (o *OneOf) OutputSize(in image.Point) (image.Point, error) {
	sum := 0.0
	for _, weight := range o.Weights {
		sum += weight
	}
	if o.Weights != nil && (len(o.Weights) != len(o.Ops) || slices.Min(o.Weights) < 0 || !(sum > 0)) {
		return in, fmt.Errorf("weights %v", o.Weights)
	}
	if o.Times != 1 || len(o.Ops) == 0 {
		return o.Ops.same(in)
	}
	out, err := outputSize(o.Ops[0], in)
	for _, op := range o.Ops {
		size, failure := outputSize(op, in)
		if err = errors.Join(err, failure); err == nil && size != out {
			err = fmt.Errorf("%s leaves another size than %s", op, o.Ops[0])
		}
	}
	return out, err
}

func (o *OneOf) levels() bool { return o.Ops.levels() }

// Apply draws which.
func (o *OneOf) Apply(plan *Plan, random *rand.Rand) error {
	for range o.Times {
		if err := plan.apply(o.Ops[o.choose(random)], random); err != nil {
			return err
		}
	}
	return nil
}

func (o *OneOf) choose(random *rand.Rand) int {
	if o.Weights == nil {
		return random.IntN(len(o.Ops))
	}
	sum := 0.0
	for _, weight := range o.Weights {
		sum += weight
	}
	rest, chosen := sum*random.Float64(), 0
	for i, weight := range o.Weights {
		if weight > 0 {
			chosen = i
			if rest < weight {
				break
			}
		}
		rest -= weight
	}
	return chosen
}

// RandomOrder applies all its operations in a random order, as torchvision.transforms.RandomOrder does.
type RandomOrder struct{ Ops list }

func (r *RandomOrder) String() string { return fmt.Sprintf("RandomOrder(%d operations)", len(r.Ops)) }

// OutputSize is that of the input.
func (r *RandomOrder) OutputSize(in image.Point) (image.Point, error) {
	return r.Ops.same(in)
}

func (r *RandomOrder) levels() bool { return r.Ops.levels() }

// Apply draws the order.
func (r *RandomOrder) Apply(plan *Plan, random *rand.Rand) error {
	ops := slices.Clone(r.Ops)
	random.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	return plan.applyAll(ops, random)
}
