package augment

import "image"

// Mask is the plan for what belongs to every pixel of the picture, such as its class: the same geometry, in which
// values are chosen but never mixed, without any change of colour.
func (p *Plan) Mask() Plan {
	mask := Plan{stages: make([]stage, len(p.stages))}
	for i, s := range p.stages {
		mask.stages[i].View = s.View
		if s.next != nil {
			mask.stages[i].next = s.next.mask()
		}
	}
	mask.narrow()
	return mask
}

// Box is a rectangle in pixels, from the upper left corner.
type Box struct{ Left, Top, Right, Bottom float64 }

func (b Box) area() float64 { return max(b.Right-b.Left, 0) * max(b.Bottom-b.Top, 0) }

func (b Box) corners() [4]point {
	return [4]point{{b.Left, b.Top}, {b.Right, b.Top}, {b.Left, b.Bottom}, {b.Right, b.Bottom}}
}

func bounds(corners [4]point) Box {
	b := Box{corners[0].x, corners[0].y, corners[0].x, corners[0].y}
	for _, c := range corners {
		b = Box{min(b.Left, c.x), min(b.Top, c.y), max(b.Right, c.x), max(b.Bottom, c.y)}
	}
	return b
}

// clip keeps what of the box lies in a picture.
func (b Box) clip(size image.Point) Box {
	within := func(x float64, most int) float64 { return min(max(x, 0), float64(most)) }
	return Box{within(b.Left, size.X), within(b.Top, size.Y), within(b.Right, size.X), within(b.Bottom, size.Y)}
}

// Move gives the box of the output in which lies what a box of the picture holds, and the share of it that is left:
// 0 where it is out of sight. Its corners go through every stage, and are replaced by those of their bounding box where
// that is cut.
func (p *Plan) Move(box Box) (moved Box, visible float64) {
	corners, visible := box.corners(), 1.0
	for _, s := range p.stages {
		size := s.Window.Size()
		for i := range corners {
			c := &corners[i]
			c.x, c.y = c.x-float64(s.Window.Min.X), c.y-float64(s.Window.Min.Y)
			if s.FlipX {
				c.x = float64(size.X) - c.x
			}
			if s.FlipY {
				c.y = float64(size.Y) - c.y
			}
		}
		whole := bounds(corners)
		if moved = whole.clip(size); moved != whole {
			if moved.area() == 0 {
				return Box{}, 0
			}
			visible *= moved.area() / whole.area()
			corners = moved.corners()
		}
		if s.next == nil {
			break
		}
		for i := range corners {
			var ok bool
			if corners[i], ok = s.next.forward(corners[i]); !ok {
				return Box{}, 0
			}
		}
	}
	return moved, visible
}
