package loader

import (
	"encoding/binary"
	"fmt"
	"math"

	"tfgoloader/gocore/source"
)

// OneHot turns a label into a row of float32: 1 for its class, softened by label smoothing as
// keras.losses.CategoricalCrossentropy defines it: y*(1-s) + s/n.
type OneHot struct {
	Classes   int     `json:"classes"`
	Smoothing float64 `json:"label_smoothing"`
}

// check looks at every label, so that one out of range is found before the first epoch.
func (o *OneHot) check(list *source.List) error {
	if o.Classes < 1 || !list.HasLabels() {
		return configError("OneHot needs labels and at least one class")
	}
	for i := range list.Len() {
		if label := list.Label(i); label < 0 || label >= int64(o.Classes) {
			return configError(fmt.Sprintf("labels: %d, the label of %s, is outside the classes 0 to %d of OneHot(%d)",
				label, list.Path(i), o.Classes-1, o.Classes))
		}
	}
	return nil
}

func (o *OneHot) write(row []byte, label int64) {
	base := float32(o.Smoothing / float64(o.Classes))
	off, on := math.Float32bits(base), math.Float32bits(float32(1-o.Smoothing)+base)
	for class := range int64(o.Classes) {
		value := off
		if class == label {
			value = on
		}
		binary.LittleEndian.PutUint32(row[4*class:], value)
	}
}

// writeLabel fails for a label that a function of the user's has put outside the classes.
func writeLabel(row []byte, label int64, oneHot *OneHot) error {
	if oneHot == nil {
		binary.LittleEndian.PutUint64(row, uint64(label))
		return nil
	}
	if label < 0 || label >= int64(oneHot.Classes) {
		return fmt.Errorf("%w: the label %d is outside the classes 0 to %d of OneHot", ErrFunction, label, oneHot.Classes-1)
	}
	oneHot.write(row, label)
	return nil
}
