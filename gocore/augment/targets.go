package augment

import (
	"image"
	"slices"

	"tfgoloader/gocore/pixel"
)

// Mask is the plan of the picture's mask, whose pixels are class indices: the same geometry, but every pixel is that of
// the nearest one, and no colour changes.
func (p *Plan) Mask() Plan {
	mask := Plan{stages: slices.Clone(p.stages)}
	for i := range mask.stages {
		s := &mask.stages[i]
		s.filters, s.places = nil, nil
		s.next.how.Interpolation, s.next.how.Antialias = pixel.Nearest, false
	}
	mask.narrow()
	return mask
}

// Move says where a box, left, top, right and bottom in pixels of the upright picture, lies in the picture that comes out,
// clipped to it, and which share of its area is visible there.
func (p *Plan) Move(box [4]float64) (moved [4]float64, visible float64) {
	for i := range p.stages {
		s := &p.stages[i]
		box = shift(box, s.Window.Min)
		size := s.Window.Size()
		if s.FlipX {
			box[0], box[2] = float64(size.X)-box[2], float64(size.X)-box[0]
		}
		if s.FlipY {
			box[1], box[3] = float64(size.Y)-box[3], float64(size.Y)-box[1]
		}
		if i < len(p.stages)-1 {
			x, y := s.next.x, s.next.y
			box[0], box[2] = along(x, box[0]), along(x, box[2])
			box[1], box[3] = along(y, box[1]), along(y, box[3])
			continue
		}
		for corner, value := range box {
			moved[corner] = min(max(value, 0), float64([2]int{size.X, size.Y}[corner%2]))
		}
	}
	if area := (box[2] - box[0]) * (box[3] - box[1]); area > 0 {
		visible = (moved[2] - moved[0]) * (moved[3] - moved[1]) / area
	}
	return moved, visible
}

func shift(box [4]float64, origin image.Point) [4]float64 {
	x, y := float64(origin.X), float64(origin.Y)
	return [4]float64{box[0] - x, box[1] - y, box[2] - x, box[3] - y}
}

// along is where a coordinate of the input of an axis lies in its output.
func along(a pixel.Axis, at float64) float64 { return (at - a.Start) / a.Length * float64(a.Output) }
