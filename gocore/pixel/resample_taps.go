package pixel

import (
	"fmt"
	"math"
	"slices"
)

// taps says of which source pixels each output pixel of an axis is the sum, and with which weights: the bits of a
// float32, or a fixed-point number as the kernel takes it. A table serves again as long as its recipe is the same.
type taps struct {
	recipe   recipe
	first    []int32 // the first source pixel of each output pixel; they ascend
	at       []int32 // where its weights begin, and at last where all end
	weights  []int32
	most     int // the most weights of an output pixel
	from, to int // the source pixels that any output pixel has
	bits     int // after the binary point of a fixed-point weight
	wide     []float64
}

// recipe is all that a table depends on.
type recipe struct {
	Axis
	Resampling
	vertical bool
	// Of both axes, for OpenCV's area: one enlarges, or both shrink by a whole number.
	enlarging, whole bool
}

// recipes returns those of both axes.
func (r Resampling) recipes(x, y Axis) (recipe, recipe) {
	whole := func(a Axis) bool { return a.Length/float64(a.Output) == math.Trunc(a.Length/float64(a.Output)) }
	enlarging := x.Length < float64(x.Output) || y.Length < float64(y.Output)
	both := whole(x) && whole(y)
	return recipe{x, r, false, enlarging, both}, recipe{y, r, true, enlarging, both}
}

// spread appends to weights those of output pixel i, and returns its first source pixel. It is called for ascending i.
type spread func(i int, weights []float64) (first int, _ []float64)

// reach is how far each interpolation's kernel reaches to either side.
var reach = [...]float64{Nearest: 1, Bilinear: 1, Bicubic: 2, Area: 1, Lanczos3: 3, Lanczos4: 4, Lanczos5: 5, Gaussian: 1.5,
	MitchellCubic: 2}

// make makes the table, unless it is there.
func (t *taps) make(r recipe) error {
	if t.recipe == r {
		return nil
	}
	// Where the precision hangs on the largest weight of all output pixels, all are computed.
	first, end := r.First, r.First+r.Count
	if r.fixed() && r.Convention != LikeOpenCV {
		first, end = 0, r.Output
	}
	each := min(2*reach[r.Interpolation]*max(1, r.Length/float64(r.Output))+1, float64(r.Input))
	if each*float64(end-first) > maxWords {
		return fmt.Errorf("%w: axis %+v takes too many weights", ErrSize, r.Axis)
	}
	*t = taps{first: t.first[:0], at: t.at[:0], weights: t.weights[:0], wide: t.wide[:0], from: r.Input}
	largest := 0.0
	spread := r.spread()
	for i := first; i < end; i++ {
		pixel, weights := spread(i, t.wide[len(t.wide):])
		for _, weight := range weights {
			if weight > largest {
				largest = weight
			}
		}
		if i >= r.First && i < r.First+r.Count {
			t.first, t.at = append(t.first, int32(pixel)), append(t.at, int32(len(t.wide)))
			t.wide = append(t.wide, weights...)
		}
	}
	t.at = append(t.at, int32(len(t.wide)))
	t.bits = r.precision(largest)
	t.encode(r)
	t.recipe = r
	return nil
}

// encode makes words of the weights, without the zeros at the ends.
func (t *taps) encode(r recipe) {
	// Where a kernel has zeros inside its support, leaving out those at its start would let the first pixels descend.
	trim := r.Interpolation == Nearest || r.Interpolation == Bilinear || r.Interpolation == Area
	encode := r.encoder(t.bits)
	for i := range t.first {
		first, at := int(t.first[i]), len(t.weights)
		for _, weight := range t.wide[t.at[i]:t.at[i+1]] {
			t.weights = append(t.weights, encode(weight))
		}
		for trim && len(t.weights) > at+1 && t.weights[at] == 0 {
			t.weights = slices.Delete(t.weights, at, at+1)
			first++
		}
		for len(t.weights) > at+1 && t.weights[len(t.weights)-1] == 0 {
			t.weights = t.weights[:len(t.weights)-1]
		}
		count := len(t.weights) - at
		t.first[i], t.at[i] = int32(first), int32(at)
		t.most, t.from, t.to = max(t.most, count), min(t.from, first), max(t.to, first+count)
	}
	t.at[len(t.first)] = int32(len(t.weights))
	t.from, t.to = r.clamp(t.from), r.clamp(t.to-1)+1
}

// fixed tells whether the library sums integers.
func (r recipe) fixed() bool {
	switch r.Convention {
	case LikePillow, LikeTorchvision:
		return r.Interpolation != Nearest
	case LikeOpenCV:
		return r.Interpolation == Bilinear || r.Interpolation == Area && r.enlarging
	default:
		return false
	}
}

const (
	pillowBits = 22
	opencvBits = 11
	torchBits  = 15 // of a weight, without its sign
)

// precision returns how many bits a fixed-point weight has after the binary point.
func (r recipe) precision(largest float64) int {
	switch {
	case !r.fixed():
		return 0
	case r.Convention == LikeOpenCV:
		return opencvBits
	case r.Convention == LikePillow && largest > 1+1.0/128: // near the edges; the kernel has room for no more
		return pillowBits - 1
	case r.Convention == LikePillow:
		return pillowBits
	}
	bits := 0
	for bits < pillowBits && int(0.5+largest*float64(int(2)<<bits)) < 1<<torchBits {
		bits++
	}
	return bits
}

// encoder returns how a weight becomes a word.
func (r recipe) encoder(bits int) func(weight float64) int32 {
	switch {
	case !r.fixed():
		return func(weight float64) int32 { return int32(math.Float32bits(float32(weight))) }
	case r.Convention == LikeOpenCV:
		return func(weight float64) int32 { return int32(weight) } // has its 11 bits already
	}
	one := float64(int(1) << bits)
	return func(weight float64) int32 {
		// The kernel's product of a sample x is x times the low half plus 128x times the high half, both signed.
		fixed := int(math.Round(weight * one))
		high := min(fixed>>7, math.MaxInt16)
		return int32(high)<<16 | int32(uint16(int16(fixed-high<<7)))
	}
}

// gain is what sums of weighted samples are to be multiplied by.
func (r Resampling) gain(x, y recipe) float32 {
	shrink := func(r recipe) float32 { return float32(r.Length) / float32(r.Output) }
	switch {
	case r.Convention == LikeKeras && r.Interpolation == Area:
		return float32(1 / float64(shrink(x)*shrink(y)))
	case r.Convention == LikeOpenCV && r.Interpolation == Lanczos4:
		return 1.0 / (1 << opencvBits) / (1 << opencvBits)
	case r.Convention == LikeOpenCV && r.Interpolation == Area && !x.enlarging && x.whole:
		return 1 / (shrink(x) * shrink(y))
	default:
		return 1
	}
}

// yFirst tells whether rows are summed before columns: as the library does where that shows, else where it is less work.
func (r Resampling) yFirst(x, y Axis) bool {
	switch r.Convention {
	case LikeKeras:
		return y.Length > float64(y.Output)
	case LikePillow:
		return y.Input > y.Output && y.Input-y.Output > 2*(x.Input-x.Output)
	default:
		return false
	}
}
