package augment

// Rescaling is keras.layers.Rescaling: y = x*scale + offset.
type Rescaling struct {
	Scale, Offset float64
}

// Compose follows what came before.
func (r *Rescaling) Compose(scale, offset []float64) {
	for c := range scale {
		scale[c] *= r.Scale
		offset[c] = offset[c]*r.Scale + r.Offset
	}
}

// Normalization is keras.layers.Normalization with given statistics: y = (x - mean) / deviation, channel by
// channel; one value serves all channels.
type Normalization struct {
	Mean, Deviation []float64
}

// Compose follows what came before.
func (n *Normalization) Compose(scale, offset []float64) {
	for c := range scale {
		deviation := n.Deviation[c%len(n.Deviation)]
		scale[c] /= deviation
		offset[c] = (offset[c] - n.Mean[c%len(n.Mean)]) / deviation
	}
}
