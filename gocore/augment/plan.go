package augment

import (
	"image"
	"slices"

	"tfgoloader/gocore/pixel"
)

// Plan is what one sample's picture goes through, drawn. It has stages, of which every one but the first begins with a
// picture that is resampled from the one before; crops and flips are only ever composed.
type Plan struct {
	Decode image.Rectangle // what of the picture is to be decoded: what the result depends on
	stages []stage
}

// stage is what happens to one picture: filters change it in place, each where its operation sees it, in the picture's
// own frame, and the view shows the rest a part of it.
type stage struct {
	View
	filters chain
	places  []View          // where each filter is applied; one for each
	present image.Rectangle // what of the picture there will be
	next    resampling      // of what the view shows; in the last stage there is none
}

// resampling makes the next stage's picture.
type resampling struct {
	x, y pixel.Axis
	how  pixel.Resampling
}

func (p *Plan) last() *stage { return &p.stages[len(p.stages)-1] }

// add applies a filter to what the view shows so far.
func (s *stage) add(filter Filter) {
	before := len(s.filters)
	s.filters = s.filters.add(filter)
	for range len(s.filters) - before {
		s.places = append(s.places, s.View)
	}
}

// resample ends the stage: the next picture has a size, made of what the view shows. Flips come after it.
func (p *Plan) resample(size image.Point, how pixel.Resampling) {
	last := p.last()
	window := last.Window.Size()
	last.next = resampling{
		pixel.Axis{Input: window.X, Length: float64(window.X), Output: size.X},
		pixel.Axis{Input: window.Y, Length: float64(window.Y), Output: size.Y},
		how,
	}
	flips := View{Window: image.Rectangle{Max: size}, FlipX: last.FlipX, FlipY: last.FlipY}
	last.FlipX, last.FlipY = false, false
	p.stages = append(p.stages, stage{View: flips})
}

// narrow leaves of every stage what the result depends on, from the last to the first.
func (p *Plan) narrow() {
	needed := p.last().Window
	for i := range slices.Backward(p.stages) {
		needed = p.stages[i].narrow(needed)
		if i > 0 {
			needed = p.stages[i-1].make(needed)
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

// make has the needed part of the next stage's picture made, and returns what of this one it is made of.
func (s *stage) make(needed image.Rectangle) image.Rectangle {
	x, y := &s.next.x, &s.next.y
	x.First, x.Count = needed.Min.X, needed.Dx()
	y.First, y.Count = needed.Min.Y, needed.Dy()
	left, right := s.next.how.Needs(*x)
	top, bottom := s.next.how.Needs(*y)
	return image.Rect(left, top, right, bottom).Add(s.Window.Min)
}

// Write takes the decoded part of the picture, which it may change, through all stages to its place in a batch.
func (p *Plan) Write(place []byte, picture pixel.Picture, writer *pixel.Writer, work *Work) error {
	for i := range p.stages {
		s := &p.stages[i]
		s.apply(picture, work)
		if i == len(p.stages)-1 {
			return writer.Write(place, picture.Part(s.Window.Sub(s.present.Min)), s.FlipX, s.FlipY)
		}
		origin := s.present.Min.Sub(s.Window.Min)
		next := &p.stages[i+1]
		if i+1 == len(p.stages)-1 && len(next.filters) == 0 {
			return writer.Resample(&work.scratch, place, picture, origin, s.next.x, s.next.y, s.next.how, next.FlipX, next.FlipY)
		}
		var err error
		if picture, err = work.resample(i, picture, origin, s.next); err != nil {
			return err
		}
	}
	return nil
}

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

// resample makes a picture of bytes; that of the stage before is still in use, the one before that no more.
func (w *Work) resample(stage int, picture pixel.Picture, origin image.Point, r resampling) (pixel.Picture, error) {
	writer, err := pixel.NewWriter(picture.Channels, pixel.Uint8, pixel.ChannelsLast, nil)
	if err != nil {
		return picture, err
	}
	size := writer.Bytes(r.x.Count, r.y.Count)
	w.pictures[stage%2] = slices.Grow(w.pictures[stage%2][:0], size)[:size]
	out := pixel.Picture{
		Pix: w.pictures[stage%2], Stride: r.x.Count * picture.Channels,
		Width: r.x.Count, Height: r.y.Count, Channels: picture.Channels,
	}
	return out, writer.Resample(&w.scratch, out.Pix, picture, origin, r.x, r.y, r.how, false, false)
}
