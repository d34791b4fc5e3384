package augment

import (
	"fmt"
	"image"
	"strings"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// Step is what one operation did to a sample.
type Step struct {
	Op       string         `json:"op"`
	Position int            `json:"position"` // of the operation, or the one around it, in the user's list
	Applied  bool           `json:"applied"`  // it may have changed the picture
	Drawn    map[string]any `json:"drawn"`    // its parameters, by name
	Ops      []*Step        `json:"ops"`      // what it applied of operations of its own
}

// trace notes what the operations of a plan draw; nil notes nothing.
type trace struct {
	steps    []*Step
	open     []*Step // those that are being applied, the innermost last
	position int
}

// begin opens a step, which all notes are for until it ends.
func (t *trace) begin(op any) {
	if t == nil {
		return
	}
	name, given := op.(string)
	if !given {
		name = strings.TrimPrefix(fmt.Sprintf("%T", op), "*augment.")
	}
	step := &Step{Op: name, Position: t.position, Drawn: map[string]any{}}
	if len(t.open) == 0 {
		t.steps = append(t.steps, step)
	} else {
		around := t.open[len(t.open)-1]
		around.Ops = append(around.Ops, step)
	}
	t.open = append(t.open, step)
}

func (t *trace) end() {
	if t != nil {
		t.open = t.open[:len(t.open)-1]
	}
}

// note keeps a parameter of the innermost open step.
func (t *trace) note(name string, value any) { t.open[len(t.open)-1].Drawn[name] = value }

// applied says that all open steps do something to the picture, if that is so.
func (t *trace) applied(something bool) {
	for _, step := range t.open {
		step.Applied = step.Applied || something
	}
}

func (t *trace) resized(from, to image.Point) {
	if t != nil {
		t.note("resized_from", heightWidth(from))
		t.note("resized_to", heightWidth(to))
		t.applied(from != to)
	}
}

// filter notes the parameters of a filter.
func (t *trace) filter(f Filter) {
	if t == nil {
		return
	}
	t.applied(true)
	if f, ok := f.(drawer); ok {
		for _, p := range f.drawn() {
			t.note(p.name, p.value)
		}
	}
}

// parameters are what a filter was drawn with, for people to read.
type parameters []parameter

type parameter struct {
	name  string
	value float64
}

func (p parameters) drawn() parameters { return p }

// drawer is a Filter that knows its parameters.
type drawer interface{ drawn() parameters }

// Trace draws what Plan draws, and tells it.
func (p *Pipeline) Trace(size image.Point, seed uint64, epoch, index int64) ([]*Step, error) {
	var draw sample.Draw
	t := new(trace)
	plan := whole(size)
	plan.trace = t
	for _, step := range p.steps {
		t.position = step.position
		if err := plan.apply(step.op, draw.Reset(seed, epoch, index, step.position)); err != nil {
			return nil, err
		}
	}
	return t.steps, nil
}

func rectangle(r image.Rectangle) [4]int  { return [4]int{r.Min.Y, r.Min.X, r.Dy(), r.Dx()} }
func heightWidth(size image.Point) [2]int { return [2]int{size.Y, size.X} }
func sides(b pixel.Border) [2][2]int      { return [2][2]int{{b.Top, b.Bottom}, {b.Left, b.Right}} }
