package augment

import (
	"image"
	"slices"

	"tfgoloader/gocore/pixel"
)

// framing makes a picture of another size, and lays it somewhere in a constant.
type framing struct {
	resampling
	at   image.Rectangle // of the picture in its frame
	fill pixel.Fill
	part image.Rectangle // of the frame, which is made
}

// inner is what of the picture is in the part that is made; where nothing is, one pixel is made in vain.
func (f *framing) inner() image.Rectangle {
	if inner := f.part.Intersect(f.at); !inner.Empty() {
		return inner
	}
	return image.Rectangle{f.at.Min, f.at.Min.Add(image.Pt(1, 1))}
}

func (f *framing) narrow(part image.Rectangle) image.Rectangle {
	f.part = part
	return f.resampling.narrow(f.inner().Sub(f.at.Min))
}

func (f *framing) write(to target, picture pixel.Picture, origin image.Point) error {
	inner, frame := f.inner(), to.place
	length := to.writer.Bytes(inner.Dx(), inner.Dy())
	*to.buffer = slices.Grow((*to.buffer)[:0], length)[:length]
	to.place = *to.buffer
	if err := f.resampling.write(to, picture, origin); err != nil {
		return err
	}
	size := f.part.Size()
	at := mirrored(inner.Sub(f.part.Min), size, to.flipX, to.flipY)
	if !f.part.Overlaps(f.at) {
		at, to.place = image.Rectangle{}, nil
	}
	return to.writer.Frame(to.scratch, frame, size, to.place, at, f.fill)
}

func (f *framing) forward(at point) (point, bool) {
	at, _ = f.resampling.forward(at)
	return point{at.x + float64(f.at.Min.X), at.y + float64(f.at.Min.Y)}, true
}

func (f *framing) backward(at point) (point, bool) {
	return f.resampling.backward(point{at.x - float64(f.at.Min.X), at.y - float64(f.at.Min.Y)})
}

func (f *framing) mask() transition {
	nearest := *f
	nearest.resampling = *f.resampling.mask().(*resampling)
	return &nearest
}
