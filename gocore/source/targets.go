package source

import "errors"

// ErrTargets are masks or boxes that do not fit the samples.
var ErrTargets = errors.New("targets do not fit the samples")

// Targets are what samples have besides labels. What is nil, no sample has.
type Targets struct {
	Masks []string // of each sample the path of a picture of class indices
	Boxes *Boxes
}

// Boxes are those of all samples, one sample's after another's.
type Boxes struct {
	Ends   []int        // of each sample's, in the other two
	Boxes  [][4]float64 // in whatever format
	Labels []int64
}

// WithTargets gives the samples of a list with targets.
func WithTargets(list *List, targets Targets) (*List, error) {
	out := *list
	if targets.Masks != nil {
		if len(targets.Masks) != list.Len() {
			return nil, fail("", ErrTargets, "%d paths but %d masks", list.Len(), len(targets.Masks))
		}
		masks, err := Paths(targets.Masks, nil)
		if err != nil {
			return nil, err
		}
		out.masks = masks
	}
	if boxes := targets.Boxes; boxes != nil {
		if len(boxes.Ends) != list.Len() {
			return nil, fail("", ErrTargets, "%d paths but boxes of %d", list.Len(), len(boxes.Ends))
		}
		last := 0
		for _, end := range boxes.Ends {
			if end < last {
				return nil, fail("", ErrTargets, "the ends of boxes do not ascend")
			}
			last = end
		}
		if last != len(boxes.Boxes) || last != len(boxes.Labels) {
			return nil, fail("", ErrTargets, "%d boxes of samples, %d boxes, %d labels", last, len(boxes.Boxes), len(boxes.Labels))
		}
		out.boxes = boxes
	}
	return &out, nil
}

// HasMasks tells whether the samples have masks.
func (l *List) HasMasks() bool { return l.masks != nil }

// Mask gives the path of the mask of sample i.
func (l *List) Mask(i int) string { return l.masks.Path(i) }

// HasBoxes tells whether the samples have boxes, each as many as it likes.
func (l *List) HasBoxes() bool { return l.boxes != nil }

// Boxes gives the boxes of sample i and their labels; the caller must not change them.
func (l *List) Boxes(i int) ([][4]float64, []int64) {
	first := 0
	if i > 0 {
		first = l.boxes.Ends[i-1]
	}
	end := l.boxes.Ends[i]
	return l.boxes.Boxes[first:end], l.boxes.Labels[first:end]
}

// MostBoxes is how many the sample with the most boxes has.
func (l *List) MostBoxes() int {
	most, last := 0, 0
	for _, end := range l.boxes.Ends {
		most, last = max(most, end-last), end
	}
	return most
}
