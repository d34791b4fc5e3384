package loader

import (
	"encoding/binary"
	"image"

	"tfgoloader/gocore/augment"
)

// meta are the arrays that say where pictures come from. Windows and flips are those of each view.
type meta struct {
	index, size, window, flip *Array
}

func newMeta(layout *layout, views int) (*meta, error) {
	shape := func(length int) []int {
		if views > 1 {
			return []int{views, length}
		}
		return []int{length}
	}
	m := new(meta)
	for _, array := range []struct {
		place       **Array
		name, dtype string
		shape       []int
	}{
		{&m.index, "index", "int64", nil},
		{&m.size, "original_size", "int32", []int{2}},
		{&m.window, "window", "int32", shape(4)},
		{&m.flip, "flip", "bool", shape(2)},
	} {
		var err error
		if *array.place, err = layout.add(array.name, array.dtype, array.shape...); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// write fills a sample's rows: height before width, top before left.
func (m *meta) write(slab slab, slot int, index int64, size image.Point, views []augment.Plan) {
	binary.LittleEndian.PutUint64(slab.row(m.index, slot), uint64(index))
	numbers(slab.row(m.size, slot), size.Y, size.X)
	windows, flips := slab.row(m.window, slot), slab.row(m.flip, slot)
	for view := range views {
		shown := views[view].Shown()
		numbers(windows[16*view:], shown.Min.Y, shown.Min.X, shown.Dy(), shown.Dx())
		flips[2*view], flips[2*view+1] = boolean(views[view].FlipX), boolean(views[view].FlipY)
	}
}

func numbers(row []byte, values ...int) {
	for i, value := range values {
		binary.LittleEndian.PutUint32(row[4*i:], uint32(value))
	}
}

func boolean(value bool) byte {
	if value {
		return 1
	}
	return 0
}
