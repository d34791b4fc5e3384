package loader

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"tfgoloader/gocore/augment"
	"tfgoloader/gocore/source"
)

// boxFormat is how four numbers stand for a box, in a picture of a given size; corners are left, top, right and bottom, in
// pixels.
type boxFormat struct {
	corners     func(box [4]float64, size image.Point) [4]float64
	fromCorners func(box [4]float64, size image.Point) [4]float64
}

var boxFormats = map[string]boxFormat{
	"xyxy": {
		func(b [4]float64, _ image.Point) [4]float64 { return b },
		func(b [4]float64, _ image.Point) [4]float64 { return b },
	},
	"rel_xyxy": {
		func(b [4]float64, size image.Point) [4]float64 {
			x, y := float64(size.X), float64(size.Y)
			return [4]float64{b[0] * x, b[1] * y, b[2] * x, b[3] * y}
		},
		func(b [4]float64, size image.Point) [4]float64 {
			x, y := float64(size.X), float64(size.Y)
			return [4]float64{b[0] / x, b[1] / y, b[2] / x, b[3] / y}
		},
	},
	"xywh": {
		func(b [4]float64, _ image.Point) [4]float64 { return [4]float64{b[0], b[1], b[0] + b[2], b[1] + b[3]} },
		func(b [4]float64, _ image.Point) [4]float64 { return [4]float64{b[0], b[1], b[2] - b[0], b[3] - b[1]} },
	},
}

// Boxes says how boxes are understood and handed out.
type Boxes struct {
	Format     string  `json:"format"`
	Most       int     `json:"most"`        // rows for one sample; 0 for as many as the source's samples have
	MinVisible float64 `json:"min_visible"` // the share of a box's area that has to be in the picture
}

// box is on its way into a batch.
type box struct {
	augment.Box
	visible float64 // the share of its area that is left
	label   int64
}

// boxArrays are where the boxes of a batch go.
type boxArrays struct {
	boxFormat
	minVisible            float64
	most                  int // that a sample has, in the source or in a batch
	boxes, labels, counts *Array
}

// parse looks at every box, so that a wrong one is found before the first epoch, and gives the boxes their arrays.
func (b Boxes) parse(list *source.List, layout *layout) (*boxArrays, error) {
	format, known := boxFormats[b.Format]
	if !known {
		return nil, configError(fmt.Sprintf("unknown box_format %q", b.Format))
	}
	if b.Most < 0 || !(b.MinVisible >= 0 && b.MinVisible <= 1) {
		return nil, configError("max_boxes is at least 0, min_visible from 0 to 1")
	}
	for i := range list.Len() {
		boxes, _ := list.Boxes(i)
		for n, box := range boxes {
			corners := format.corners(box, image.Pt(1, 1))
			for _, value := range corners {
				if math.IsNaN(value) || math.IsInf(value, 0) {
					return nil, configError(fmt.Sprintf("boxes: %v, box %d of %s, is not finite", box, n, list.Path(i)))
				}
			}
			if corners[2] < corners[0] || corners[3] < corners[1] {
				return nil, configError(fmt.Sprintf("boxes: %v, box %d of %s, ends before it starts as box_format=%q",
					box, n, list.Path(i), b.Format))
			}
		}
	}
	most := b.Most
	if most == 0 {
		most = max(1, list.MostBoxes())
	}
	out := &boxArrays{boxFormat: format, minVisible: b.MinVisible, most: max(most, list.MostBoxes())}
	var err error
	if out.boxes, err = layout.add("boxes", "float32", most, 4); err != nil {
		return nil, err
	}
	if out.labels, err = layout.add("box_labels", "int64", most); err != nil {
		return nil, err
	}
	out.counts, err = layout.add("box_counts", "int32")
	return out, err
}

// read gives boxes in pixels of a picture of the given size.
func (a *boxArrays) read(into []box, boxes [][4]float64, labels []int64, size image.Point) []box {
	for i, values := range boxes {
		c := a.corners(values, size)
		into = append(into, box{augment.Box{Left: c[0], Top: c[1], Right: c[2], Bottom: c[3]}, 1, labels[i]})
	}
	return into
}

// values are the four numbers that stand for a box in a picture of the given size.
func (a *boxArrays) values(b box, size image.Point) [4]float64 {
	return a.fromCorners([4]float64{b.Left, b.Top, b.Right, b.Bottom}, size)
}

// move moves boxes with their picture, in place, and leaves out those that show too little.
func (a *boxArrays) move(boxes []box, plan *augment.Plan) []box {
	left := boxes[:0]
	for _, b := range boxes {
		var visible float64
		b.Box, visible = plan.Move(b.Box)
		if b.visible *= visible; b.Right > b.Left && b.Bottom > b.Top && b.visible >= a.minVisible {
			left = append(left, b)
		}
	}
	return left
}

// write fills a sample's rows: first boxes, those beyond the most left out, then 0 with the label -1.
func (a *boxArrays) write(slab slab, slot int, boxes []box, size image.Point) {
	corners, classes := slab.row(a.boxes, slot), slab.row(a.labels, slot)
	count := min(len(boxes), len(classes)/8)
	for i, b := range boxes[:count] {
		for n, value := range a.values(b, size) {
			binary.LittleEndian.PutUint32(corners[16*i+4*n:], math.Float32bits(float32(value)))
		}
		binary.LittleEndian.PutUint64(classes[8*i:], uint64(b.label))
	}
	clear(corners[16*count:])
	for rest := classes[8*count:]; len(rest) > 0; rest = rest[8:] {
		binary.LittleEndian.PutUint64(rest, math.MaxUint64)
	}
	binary.LittleEndian.PutUint32(slab.row(a.counts, slot), uint32(count))
}
