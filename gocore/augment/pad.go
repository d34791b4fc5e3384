package augment

import (
	"fmt"
	"image"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// Pad adds a border, as keras.layers.ZeroPadding2D does.
type Pad struct {
	filling
	Padding [2][2]int // top and bottom, left and right
}

func (p *Pad) String() string { return fmt.Sprintf("Pad(padding=%v)", p.Padding) }

// OutputSize is that of the input with its border.
func (p *Pad) OutputSize(in image.Point) (image.Point, error) {
	const most = 1 << 16
	for _, side := range [...]int{p.Padding[0][0], p.Padding[0][1], p.Padding[1][0], p.Padding[1][1]} {
		if side < 0 || side > most {
			return in, fmt.Errorf("padding is from 0 to %d", most)
		}
	}
	if err := p.check(); err != nil || in == (image.Point{}) {
		return in, err
	}
	return in.Add(image.Pt(p.Padding[1][0]+p.Padding[1][1], p.Padding[0][0]+p.Padding[0][1])), nil
}

// Apply draws nothing.
func (p *Pad) Apply(plan *Plan, _ *rand.Rand) error {
	plan.border(pixel.Border{
		Top: p.Padding[0][0], Bottom: p.Padding[0][1], Left: p.Padding[1][0], Right: p.Padding[1][1], Fill: p.fill(),
	})
	return nil
}
