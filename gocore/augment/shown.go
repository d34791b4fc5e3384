package augment

import (
	"image"
	"math"
)

// Shown is the smallest rectangle of whole pixels of the picture in which lies what the result shows of it: of rotated
// and sheared pictures the bounding box. It may be empty, where borders are all that is left.
func (p *Plan) Shown() image.Rectangle {
	last := p.last()
	shown := boxOf(last.Window)
	for i := len(p.stages) - 2; i >= 0; i-- {
		s := &p.stages[i] // only the last stage is mirrored
		corners, seen := shown.corners(), true
		for c := range corners {
			var ok bool
			corners[c], ok = s.next.backward(corners[c])
			seen = seen && ok
		}
		if shown = boxOf(s.Window); seen {
			shown = bounds(corners).clip(s.Window.Size()).add(s.Window.Min)
		}
	}
	const slack = 1e-6 // of a pixel, for what arithmetic adds to a whole number
	return image.Rect(
		int(math.Floor(shown.Left+slack)), int(math.Floor(shown.Top+slack)),
		int(math.Ceil(shown.Right-slack)), int(math.Ceil(shown.Bottom-slack)),
	)
}

func boxOf(r image.Rectangle) Box {
	return Box{float64(r.Min.X), float64(r.Min.Y), float64(r.Max.X), float64(r.Max.Y)}
}

func (b Box) add(p image.Point) Box {
	x, y := float64(p.X), float64(p.Y)
	return Box{b.Left + x, b.Top + y, b.Right + x, b.Bottom + y}
}
