// Package mix mixes the samples of a batch with one another. An operation draws who is mixed with whom, and how; then it
// is done in place.
package mix

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// ErrConfig is an operation that cannot be.
var ErrConfig = errors.New("invalid operation on batches")

// Operation draws how the samples of a batch are mixed.
type Operation interface {
	fmt.Stringer
	check() error
	// Draw gives a share for each of so many samples, whose pictures have a size. The partners are a permutation.
	Draw(random *rand.Rand, samples int, size image.Point) []Share
}

// Share is how a sample is mixed with another one of its batch, its partner.
type Share struct {
	Partner int
	Weight  float32         // of the sample itself; the partner has the rest
	Part    image.Rectangle // which the partner's pixels replace; where it is empty, pixels are weighted as labels are
}

var operations = map[string]func() Operation{
	"MixUp":  func() Operation { return new(MixUp) },
	"CutMix": func() Operation { return new(CutMix) },
}

// Parse reads an operation, a JSON object with its name as "op" beside its arguments.
func Parse(spec json.RawMessage) (Operation, error) {
	var name struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(spec, &name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	make, known := operations[name.Op]
	if !known {
		return nil, fmt.Errorf("%w: unknown operation %q", ErrConfig, name.Op)
	}
	op := make()
	if err := json.Unmarshal(spec, op); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, name.Op, err)
	}
	return op, op.check()
}

// Pictures is the form of the pictures of a batch.
type Pictures struct {
	DType    pixel.DType
	Size     image.Point
	Channels int
	Planar   bool // channels first
}

// mix changes a picture, whose partner's is the other.
func (p Pictures) mix(picture, other []byte, share Share) {
	if share.Part.Empty() {
		pixel.Blend(p.DType, picture, other, share.Weight)
		return
	}
	planes, pixelBytes := 1, len(picture)/(p.Size.X*p.Size.Y)
	if p.Planar {
		planes, pixelBytes = p.Channels, pixelBytes/p.Channels
	}
	row := p.Size.X * pixelBytes
	for plane := range planes {
		for y := share.Part.Min.Y; y < share.Part.Max.Y; y++ {
			first := (plane*p.Size.Y + y) * row
			from, to := first+share.Part.Min.X*pixelBytes, first+share.Part.Max.X*pixelBytes
			copy(picture[from:to], other[from:to])
		}
	}
}

// Mixer mixes rows of memory. It serves one goroutine and is used again; the zero value is ready.
type Mixer struct {
	first []byte // of the rows of a cycle, as it was
	done  []bool
}

// Pictures mixes the pictures of a batch.
func (m *Mixer) Pictures(shares []Share, row func(slot int) []byte, form Pictures) {
	m.mix(shares, row, form.mix)
}

// Labels mixes rows of float32 by the weights.
func (m *Mixer) Labels(shares []Share, row func(slot int) []byte) {
	m.mix(shares, row, func(label, other []byte, share Share) { pixel.Blend(pixel.Float32, label, other, share.Weight) })
}

// mix follows each cycle of the permutation: a row's partner comes after it, so only the first row, which is the last
// one's partner, needs to be kept as it was.
func (m *Mixer) mix(shares []Share, row func(slot int) []byte, change func(row, other []byte, share Share)) {
	m.done = append(m.done[:0], make([]bool, len(shares))...)
	for first := range shares {
		if m.done[first] || shares[first].Partner == first { // that which is mixed with itself stays as it is
			continue
		}
		m.first = append(m.first[:0], row(first)...)
		for slot := first; !m.done[slot]; slot = shares[slot].Partner {
			m.done[slot] = true
			other := m.first
			if partner := shares[slot].Partner; partner != first {
				other = row(partner)
			}
			if shares[slot].Weight != 1 {
				change(row(slot), other, shares[slot])
			}
		}
	}
}
