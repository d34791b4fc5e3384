package augment

import (
	"image"
	"slices"

	"tfgoloader/gocore/pixel"
)

// Plan is what one sample's picture goes through, drawn. It has stages, of which every one but the first begins with a
// picture that is resampled from the one before; crops and flips are only ever composed.
type Plan struct {
	Decode       image.Rectangle // what of the picture is to be decoded: what the result depends on
	FlipX, FlipY bool            // an odd number of flips was drawn
	stages       []stage
	trace        *trace
}

// stage is what happens to one picture: filters change it in place, each where its operation sees it, in the picture's
// own frame, and the view shows the rest a part of it.
type stage struct {
	View
	filters chain
	places  []View          // where each filter is applied; one for each
	present image.Rectangle // what of the picture there will be
	next    transition      // of what the view shows to the next stage's picture; nil in the last stage
}

// whole is the plan of a picture that stays as it is.
func whole(size image.Point) Plan {
	return Plan{stages: []stage{{View: View{Window: image.Rectangle{Max: size}}}}}
}

func (p *Plan) last() *stage { return &p.stages[len(p.stages)-1] }

// Size is that of what the next operation sees, and after the last one of what comes out.
func (p *Plan) Size() image.Point { return p.last().Window.Size() }

// add applies a filter to what an operation sees.
func (p *Plan) add(filter Filter) {
	p.trace.filter(filter)
	p.last().add(filter)
}

// add applies a filter to what the view shows so far.
func (s *stage) add(filter Filter) {
	before := len(s.filters)
	s.filters = s.filters.add(filter)
	for range len(s.filters) - before {
		s.places = append(s.places, s.View)
	}
}

// follow ends the stage: the next picture has a size, made of what the view shows. Flips come after it.
func (p *Plan) follow(next transition, size image.Point) {
	last := p.last()
	last.next = next
	flips := View{Window: image.Rectangle{Max: size}, FlipX: last.FlipX, FlipY: last.FlipY}
	last.FlipX, last.FlipY = false, false
	p.stages = append(p.stages, stage{View: flips})
}

// crop keeps a part of what an operation sees.
func (p *Plan) crop(part image.Rectangle) {
	if p.trace != nil {
		p.trace.note("window", rectangle(part))
		p.trace.applied(part.Size() != p.Size())
	}
	p.last().crop(part)
}

// flip mirrors what an operation sees.
func (p *Plan) flip(x, y bool) {
	if p.trace != nil {
		p.trace.note("horizontal", x)
		p.trace.note("vertical", y)
		p.trace.applied(x || y)
	}
	view := p.last()
	view.FlipX, view.FlipY = view.FlipX != x, view.FlipY != y
	p.FlipX, p.FlipY = p.FlipX != x, p.FlipY != y
}

// resample makes a picture of another size.
func (p *Plan) resample(to image.Point, how pixel.Resampling) {
	p.trace.resized(p.Size(), to)
	r := newResampling(p.Size(), to, how)
	p.follow(&r, to)
}

// frame makes a picture of another size, and lays it in the middle of a constant, as tf.image.resize_with_pad does.
func (p *Plan) frame(to image.Point, how pixel.Resampling, fill pixel.Fill) {
	size := p.Size()
	ratio := max(float32(size.X)/float32(to.X), float32(size.Y)/float32(to.Y))
	width, height := float32(size.X)/ratio, float32(size.Y)/ratio
	inner := image.Pt(max(1, int(width)), max(1, int(height)))
	corner := image.Pt(max(0, int((float32(to.X)-width)/2)), max(0, int((float32(to.Y)-height)/2)))
	p.trace.resized(size, inner)
	if p.trace != nil {
		rest := to.Sub(corner).Sub(inner)
		p.trace.note("padding", [2][2]int{{corner.Y, rest.Y}, {corner.X, rest.X}})
		p.trace.applied(inner != to)
	}
	p.follow(&framing{
		resampling: newResampling(size, inner, how), at: image.Rectangle{corner, corner.Add(inner)}, fill: fill,
	}, to)
}

// border adds a border around what an operation sees.
func (p *Plan) border(border pixel.Border) {
	some := border.Left|border.Top|border.Right|border.Bottom != 0
	if p.trace != nil {
		p.trace.note("padding", sides(border))
		p.trace.applied(some)
	}
	if !some {
		return
	}
	last := p.last()
	if last.FlipX {
		border.Left, border.Right = border.Right, border.Left
	}
	if last.FlipY {
		border.Top, border.Bottom = border.Bottom, border.Top
	}
	size := p.Size()
	p.follow(&bordering{Border: border, input: size},
		size.Add(image.Pt(border.Left+border.Right, border.Top+border.Bottom)))
}

// warp looks pixels up by a matrix. It is joined with the warp just before it, if what lies beyond the edges is the same.
func (p *Plan) warp(matrix pixel.Matrix, interpolation pixel.Interpolation, fill pixel.Fill) {
	if p.trace != nil {
		p.trace.note("matrix", matrix)
		p.trace.applied(matrix != identity)
	}
	if matrix == identity {
		return
	}
	last, size := p.last(), p.Size()
	matrix, _ = times(last.mirror(), matrix)
	last.FlipX, last.FlipY = false, false
	warp := pixel.Warp{Matrix: matrix, Input: size, Interpolation: interpolation, Fill: fill}
	if len(p.stages) > 1 && len(last.filters) == 0 {
		before := &p.stages[len(p.stages)-2]
		first, warped := before.next.(*warping)
		if warped && first.Input == size && first.Interpolation == interpolation && first.Fill == fill {
			if joined, ok := times(first.Matrix, matrix); ok {
				warp.Matrix = joined
				before.next = newWarping(warp)
				return
			}
		}
	}
	p.follow(newWarping(warp), size)
}

// narrow leaves of every stage what the result depends on, from the last to the first.
func (p *Plan) narrow() {
	needed := p.last().Window
	for i := range slices.Backward(p.stages) {
		needed = p.stages[i].narrow(needed)
		if i > 0 {
			before := &p.stages[i-1]
			needed = before.next.narrow(needed).Add(before.Window.Min)
		}
	}
	p.Decode = needed
}

// narrow leaves of every filter's place what the needed part depends on, and returns what that is.
func (s *stage) narrow(needed image.Rectangle) image.Rectangle {
	for i := range slices.Backward(s.filters) {
		seen := s.places[i].Window
		switch reach := s.filters[i].Reach(); reach {
		case Whole:
			needed = seen
		default:
			needed = needed.Inset(-reach).Intersect(seen)
		}
		s.places[i].Window = needed
	}
	s.present = needed
	return needed
}

// Write takes the decoded part of the picture, which it may change, through all stages to its place in a batch.
func (p *Plan) Write(place []byte, picture pixel.Picture, writer *pixel.Writer, work *Work) error {
	for i := range p.stages {
		s := &p.stages[i]
		s.apply(picture, work)
		if s.next == nil {
			return writer.Write(place, picture.Part(s.Window.Sub(s.present.Min)), s.FlipX, s.FlipY)
		}
		origin := s.present.Min.Sub(s.Window.Min)
		next := &p.stages[i+1]
		if _, copies := s.next.(*bordering); !copies && next.next == nil && len(next.filters) == 0 {
			return s.next.write(target{writer, &work.scratch, &work.frame, place, next.FlipX, next.FlipY}, picture, origin)
		}
		var err error
		if picture, err = work.make(i, next.present.Size(), s.next, picture, origin); err != nil {
			return err
		}
	}
	return nil
}

// changes tells whether Write changes the picture that it is given.
func (p *Plan) changes() bool { return len(p.stages[0].filters) > 0 }

// apply changes the stage's picture in place.
func (s *stage) apply(picture pixel.Picture, work *Work) {
	for first, last := 0, 0; first < len(s.filters); first = last {
		for last < len(s.filters) && s.places[last] == s.places[first] {
			last++
		}
		place := s.places[first]
		work.FlipX, work.FlipY = place.FlipX, place.FlipY
		s.filters[first:last].Apply(picture.Part(place.Window.Sub(s.present.Min)), work)
	}
}

// make makes a picture of bytes; that of the stage before is still in use, the one before that no more.
func (w *Work) make(stage int, size image.Point, next transition, picture pixel.Picture, origin image.Point) (pixel.Picture, error) {
	writer := w.writer(picture.Channels)
	length := writer.Bytes(size.X, size.Y)
	w.pictures[stage%2] = slices.Grow(w.pictures[stage%2][:0], length)[:length]
	out := pixel.Picture{
		Pix: w.pictures[stage%2], Stride: size.X * picture.Channels, Width: size.X, Height: size.Y, Channels: picture.Channels,
	}
	return out, next.write(target{writer, &w.scratch, &w.frame, out.Pix, false, false}, picture, origin)
}

// writer writes bytes, as they are in pictures.
func (w *Work) writer(channels int) *pixel.Writer {
	if w.bytes == nil || w.channels != channels {
		writer, err := pixel.NewWriter(channels, pixel.Uint8, pixel.ChannelsLast, nil)
		if err != nil {
			panic(err) // pictures have a number of channels that writers know
		}
		w.bytes, w.channels = writer, channels
	}
	return w.bytes
}
