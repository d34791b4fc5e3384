package augment

import (
	"image"

	"tfgoloader/gocore/pixel"
)

// transition makes a stage's picture of what the stage before it shows.
type transition interface {
	// narrow asks for a part of the new picture alone, and returns what of the shown one that part is made of.
	narrow(part image.Rectangle) (needed image.Rectangle)
	// write makes the part that narrow asked for; origin is where in what is shown the picture begins.
	write(to target, picture pixel.Picture, origin image.Point) error
	// forward is where a point goes; false where it goes nowhere.
	forward(at point) (point, bool)
	// backward is where a point comes from; false where it comes from nowhere.
	backward(at point) (point, bool)
	// mask makes the same of a mask: no value is mixed with another.
	mask() transition
}

// target is where a new picture goes, and how.
type target struct {
	writer       *pixel.Writer
	scratch      *pixel.Scratch
	buffer       *[]byte // for what is not yet in its place
	place        []byte
	flipX, flipY bool
}

// point is counted in pixels from the corner of a picture; the first pixel's centre is at one half.
type point struct{ x, y float64 }

// resampling makes a picture of another size.
type resampling struct {
	x, y pixel.Axis
	how  pixel.Resampling
}

func newResampling(from, to image.Point, how pixel.Resampling) resampling {
	return resampling{
		pixel.Axis{Input: from.X, Length: float64(from.X), Output: to.X},
		pixel.Axis{Input: from.Y, Length: float64(from.Y), Output: to.Y},
		how,
	}
}

func (r *resampling) narrow(part image.Rectangle) image.Rectangle {
	r.x.First, r.x.Count = part.Min.X, part.Dx()
	r.y.First, r.y.Count = part.Min.Y, part.Dy()
	left, right := r.how.Needs(r.x)
	top, bottom := r.how.Needs(r.y)
	return image.Rect(left, top, right, bottom)
}

func (r *resampling) write(to target, picture pixel.Picture, origin image.Point) error {
	return to.writer.Resample(to.scratch, to.place, picture, origin, r.x, r.y, r.how, to.flipX, to.flipY)
}

func (r *resampling) forward(at point) (point, bool) {
	along := func(x float64, a pixel.Axis) float64 { return (x - a.Start) / a.Length * float64(a.Output) }
	return point{along(at.x, r.x), along(at.y, r.y)}, true
}

func (r *resampling) backward(at point) (point, bool) {
	along := func(x float64, a pixel.Axis) float64 { return a.Start + x*a.Length/float64(a.Output) }
	return point{along(at.x, r.x), along(at.y, r.y)}, true
}

// mask takes the pixel whose centre is the nearest, which some libraries' own nearest neighbour is not.
func (r *resampling) mask() transition {
	nearest := *r
	if r.how.Interpolation != pixel.Nearest {
		nearest.how = pixel.Resampling{Interpolation: pixel.Nearest, Convention: pixel.LikeKeras}
	}
	return &nearest
}

// warping looks up where each pixel comes from.
type warping struct {
	pixel.Warp
	part       image.Rectangle
	inverse    pixel.Matrix // of the warp's, for points
	invertible bool
}

func newWarping(warp pixel.Warp) *warping {
	w := &warping{Warp: warp}
	w.inverse, w.invertible = inverse(warp.Matrix)
	return w
}

func (w *warping) narrow(part image.Rectangle) image.Rectangle {
	w.part = part
	return w.Needs(part)
}

func (w *warping) write(to target, picture pixel.Picture, origin image.Point) error {
	return to.writer.Warp(to.scratch, to.place, picture, origin, w.Warp, w.part, to.flipX, to.flipY)
}

func (w *warping) forward(at point) (point, bool) {
	if !w.invertible {
		return at, false
	}
	return project(w.inverse, at)
}

func (w *warping) backward(at point) (point, bool) { return project(w.Matrix, at) }

// project takes a point through a matrix, which is for the centres of pixels.
func project(m pixel.Matrix, at point) (point, bool) {
	x, y := at.x-0.5, at.y-0.5
	depth := m[6]*x + m[7]*y + 1
	if !(depth > 0) {
		return at, false
	}
	return point{(m[0]*x+m[1]*y+m[2])/depth + 0.5, (m[3]*x+m[4]*y+m[5])/depth + 0.5}, true
}

func (w *warping) mask() transition {
	nearest := *w
	nearest.Interpolation = pixel.Nearest
	return &nearest
}

// bordering adds a border.
type bordering struct {
	pixel.Border
	input image.Point
	part  image.Rectangle
}

func (b *bordering) narrow(part image.Rectangle) image.Rectangle {
	b.part = part
	return b.Needs(b.input, part)
}

// write is for pictures of bytes alone, which have yet to be mirrored and written into the batch.
func (b *bordering) write(to target, picture pixel.Picture, origin image.Point) error {
	return b.Copy(to.place, picture, origin, b.input, b.part)
}

func (b *bordering) forward(at point) (point, bool) {
	return point{at.x + float64(b.Left), at.y + float64(b.Top)}, true
}

func (b *bordering) backward(at point) (point, bool) {
	return point{at.x - float64(b.Left), at.y - float64(b.Top)}, true
}

func (b *bordering) mask() transition {
	same := *b
	return &same
}
