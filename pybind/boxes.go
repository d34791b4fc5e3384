package pybind

import (
	"encoding/binary"
	"math"

	"tfgoloader/gocore/source"
)

// boxes are packed: their number for each sample and their labels as int64, their coordinates as float64.
type boxes struct {
	Counts      []byte `json:"counts"`
	Coordinates []byte `json:"coordinates"`
	Labels      []byte `json:"labels"`
}

// unpack gives nil for nil. What does not fit together, the source finds.
func (b *boxes) unpack() *source.Boxes {
	if b == nil {
		return nil
	}
	out := &source.Boxes{}
	end := 0
	for _, count := range words(b.Counts) {
		end += int(count)
		out.Ends = append(out.Ends, end)
	}
	for _, label := range words(b.Labels) {
		out.Labels = append(out.Labels, int64(label))
	}
	coordinates := words(b.Coordinates)
	for ; len(coordinates) >= 4; coordinates = coordinates[4:] {
		var box [4]float64
		for i, bits := range coordinates[:4] {
			box[i] = math.Float64frombits(bits)
		}
		out.Boxes = append(out.Boxes, box)
	}
	return out
}

func words(packed []byte) []uint64 {
	out := make([]uint64, len(packed)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(packed[8*i:])
	}
	return out
}
