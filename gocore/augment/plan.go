package augment

import (
	"image"

	"tfgoloader/gocore/pixel"
)

// Plan is what one sample's picture goes through, drawn: a window of it is decoded, filters change that in place, and
// what the view shows is written.
type Plan struct {
	View                   // of the picture, after the last operation
	Decode image.Rectangle // of the picture: the view's window and what filters need besides

	// Filters are applied in the decoded picture's own frame: crops and flips are only ever composed. An operation that
	// makes a new picture, a resampled one, would end this list and begin the next, in the new picture's frame.
	filters chain
	places  []View // where each filter is applied; one for each
}

// add applies a filter to what the view shows so far.
func (p *Plan) add(filter Filter) {
	before := len(p.filters)
	p.filters = p.filters.add(filter)
	for range len(p.filters) - before {
		p.places = append(p.places, p.View)
	}
}

// narrow leaves of every filter's place what the result depends on, and of the picture what is to be decoded.
func (p *Plan) narrow() {
	needed := p.Window
	for i := len(p.filters) - 1; i >= 0; i-- {
		seen := p.places[i].Window
		switch reach := p.filters[i].Reach(); reach {
		case Whole:
			needed = seen
		default:
			needed = needed.Inset(-reach).Intersect(seen)
		}
		p.places[i].Window = needed
	}
	p.Decode = needed
}

// Apply changes the decoded picture in place and returns what of it is to be written, mirrored as the view says.
func (p *Plan) Apply(decoded pixel.Picture, work *Work) pixel.Picture {
	for first, last := 0, 0; first < len(p.filters); first = last {
		for last < len(p.filters) && p.places[last] == p.places[first] {
			last++
		}
		place := p.places[first]
		work.FlipX, work.FlipY = place.FlipX, place.FlipY
		p.filters[first:last].Apply(decoded.Part(place.Window.Sub(p.Decode.Min)), work)
	}
	if p.Window == p.Decode {
		return decoded
	}
	return decoded.Part(p.Window.Sub(p.Decode.Min))
}
