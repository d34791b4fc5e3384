package augment

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// Colour changes the values of a picture; it draws first.
type Colour interface {
	fmt.Stringer
	// Draw gives what is to happen to one picture: nil where it stays as it is.
	Draw(random *rand.Rand) Filter
}

// Filter is a Colour with its parameters drawn.
type Filter interface {
	// Reach is how far from a pixel lies what its new value depends on: 0 for itself alone, Whole for everything.
	Reach() int
	// Apply changes an 8-bit picture of 1, 3 or 4 channels in place; alpha stays as it is.
	Apply(picture pixel.Picture, work *Work)
}

// Whole is the reach of a filter that needs the whole picture.
const Whole = math.MaxInt

// Work is what filters need besides the picture; a worker uses it again for every sample. The zero value is ready.
type Work struct {
	FlipX, FlipY bool // the picture is to be mirrored so, later, to be what the filter's operation sees

	tables [pixel.MaxChannels]pixel.Table
	counts [pixel.MaxChannels]pixel.Counts
	buffer []float32
	kept   []byte // what a filter puts back
	inner  *Work  // of plans within a filter

	scratch  pixel.Scratch
	pictures [2][]byte     // of one stage and the next
	frame    []byte        // what is to be laid in a frame
	bytes    *pixel.Writer // writes pictures
	channels int
}

// chain applies filters one after another.
type chain []Filter

// Reach is that of what comes first on what comes later.
func (c chain) Reach() int {
	reach := 0
	for _, filter := range c {
		if next := filter.Reach(); next == Whole {
			return Whole
		} else {
			reach += next
		}
	}
	return reach
}

// Apply looks values up once for all neighbours that are tables.
func (c chain) Apply(picture pixel.Picture, work *Work) {
	for len(c) > 0 {
		run := 0
		for run < len(c) {
			if _, tabular := c[run].(tabular); !tabular {
				break
			}
			run++
		}
		if run == 0 {
			c[0].Apply(picture, work)
			run = 1
		} else {
			work.lookUp(picture, c[:run])
		}
		c = c[run:]
	}
}

func (c chain) drawn() (all parameters) {
	for _, filter := range c {
		if filter, ok := filter.(drawer); ok {
			all = append(all, filter.drawn()...)
		}
	}
	return all
}

// add appends a filter, or the filters of a chain.
func (c chain) add(filter Filter) chain {
	if more, ok := filter.(chain); ok {
		return append(c, more...)
	}
	return append(c, filter)
}

// tabular is a Filter whose new values depend on the old ones alone, and perhaps on how often each occurs.
type tabular interface {
	Filter
	table(counts *pixel.Counts) *pixel.Table
}

// lookUp applies tables, one of another's result; what is counted of the picture is counted once.
func (w *Work) lookUp(picture pixel.Picture, filters []Filter) {
	counted := chain(filters).Reach() == Whole
	if counted {
		pixel.Count(&w.counts, picture)
	}
	for c := range w.tables {
		for i := range w.tables[c] {
			w.tables[c][i] = uint8(i)
		}
	}
	for c := range picture.Colours() {
		for _, filter := range filters {
			next := filter.(tabular).table(&w.counts[c])
			for i, value := range w.tables[c] {
				w.tables[c][i] = next[value]
			}
			if counted {
				w.counts[c] = moved(&w.counts[c], next)
			}
		}
	}
	pixel.LookUp(&w.tables, picture)
}

// moved is how often each value occurs after a table.
func moved(counts *pixel.Counts, table *pixel.Table) (after pixel.Counts) {
	for value, count := range counts {
		after[table[value]] += count
	}
	return after
}

// fixed is the same table whatever the picture.
type fixed struct {
	values *pixel.Table
	parameters
}

func (f *fixed) Reach() int                              { return 0 }
func (f *fixed) table(*pixel.Counts) *pixel.Table        { return f.values }
func (f *fixed) Apply(picture pixel.Picture, work *Work) { work.lookUp(picture, []Filter{f}) }

// counting makes the table of a channel from how often each value occurs in it.
type counting struct {
	values func(*pixel.Counts) *pixel.Table
	parameters
}

func counted(values func(*pixel.Counts) *pixel.Table, drawn ...parameter) Filter {
	return &counting{values, drawn}
}

func (c *counting) Reach() int                              { return Whole }
func (c *counting) table(counts *pixel.Counts) *pixel.Table { return c.values(counts) }
func (c *counting) Apply(picture pixel.Picture, work *Work) { work.lookUp(picture, []Filter{c}) }

// tabulate rounds a function of a value to the nearest level.
func tabulate(value func(x float64) float64) *pixel.Table {
	table := new(pixel.Table)
	for x := range table {
		table[x] = uint8(min(max(value(float64(x)), 0), 255) + 0.5)
	}
	return table
}

// pointwise is a filter of single pixels.
type pointwise struct {
	change func(picture pixel.Picture)
	parameters
}

func (p *pointwise) Reach() int                           { return 0 }
func (p *pointwise) Apply(picture pixel.Picture, _ *Work) { p.change(picture) }

// interval is where a parameter is drawn from, evenly.
type interval [2]float64

func (i interval) draw(random *rand.Rand) float64 { return i[0] + (i[1]-i[0])*random.Float64() }

// happens draws a probability, and then whether what has it happens.
func (i interval) happens(random *rand.Rand) bool {
	probability := i.draw(random)
	return random.Float64() < probability
}

// chance is the probability that an operation is applied, for those that Keras always applies.
type chance struct{ P float64 }

var always = chance{1}

func (c chance) happens(random *rand.Rand) bool { return random.Float64() < c.P }
