package pixel

import "math"

// What each library makes of an axis, from its published source. Where a library computes in float32, so do these, step
// by step. Conversions of products forbid the compiler to fuse them with sums.

func (r recipe) spread() spread {
	switch r.Convention {
	case LikeKeras:
		return r.keras()
	case LikePillow:
		return r.pillow()
	case LikeTorchvision:
		return r.torchvision()
	default:
		return r.opencv()
	}
}

// clamp returns the pixel, or the edge it is beyond.
func (r recipe) clamp(p int) int { return max(0, min(p, r.Input-1)) }

// point is one pixel alone.
func (r recipe) point(place func(i int) float64) spread {
	return func(i int, weights []float64) (int, []float64) {
		return r.clamp(int(math.Floor(place(i)))), append(weights, 1)
	}
}

// A fan appends the weights of as many pixels on either side of a place, by how far it is from the one before it.
type fan func(fraction float64, weights []float64) []float64

func pairs(fraction float64, weights []float64) []float64 {
	return append(weights, 1-fraction, fraction)
}

func around(radius int, kernel func(x float64) float64) fan {
	return func(fraction float64, weights []float64) []float64 {
		for k := 1 - radius; k <= radius; k++ {
			weights = append(weights, kernel(float64(k)-fraction))
		}
		return weights
	}
}

// neighbours are the pixels around a place; those beyond the edges are the edges'.
func (r recipe) neighbours(place func(i int) float64, kernel fan) spread {
	var all []float64
	return func(i int, weights []float64) (int, []float64) {
		x := place(i)
		all = kernel(x-math.Floor(x), all[:0])
		before := int(math.Floor(x)) + 1 - len(all)/2
		if r.vertical && r.fixed() && r.Convention == LikeOpenCV {
			return before, append(weights, all...) // it rounds each product: two at an edge are not one
		}
		first := r.clamp(before)
		for p := first; p <= r.clamp(before+len(all)-1); p++ {
			weights = append(weights, 0)
		}
		for k, weight := range all {
			weights[r.clamp(before+k)-first] += weight
		}
		return first, weights
	}
}

// cubic is the convolution of R. G. Keys (1981), which has one parameter.
func cubic(a float64) func(x float64) float64 {
	return func(x float64) float64 {
		x = math.Abs(x)
		switch {
		case x < 1:
			return float64((float64((a+2)*x)-(a+3))*x*x) + 1
		case x < 2:
			return (float64((float64((x-5)*x)+8)*x) - 4) * a
		default:
			return 0
		}
	}
}

func lanczos(radius float64) func(x float64) float64 {
	sinc := func(x float64) float64 {
		if x == 0 {
			return 1
		}
		return math.Sin(math.Pi*x) / (math.Pi * x)
	}
	return func(x float64) float64 {
		if math.Abs(x) >= radius {
			return 0
		}
		return sinc(x) * sinc(x/radius)
	}
}

func linear(x float64) float64 {
	if x = math.Abs(x); x < 1 {
		return 1 - x
	}
	return 0
}

func box(x float64) float64 {
	if -0.5 < x && x <= 0.5 {
		return 1
	}
	return 0
}

// spans is the antialiasing that Pillow and torchvision share: a kernel, stretched where the picture shrinks, at the
// centres of the pixels that its support covers, whose sum is made 1.
func (r recipe) spans(start, scale, radius float64, kernel func(x float64) float64) spread {
	stretch := max(1, scale)
	inverse := 1 / stretch
	return func(i int, weights []float64) (int, []float64) {
		centre := start + float64((float64(i)+0.5)*scale)
		first := min(max(0, int(centre-radius*stretch+0.5)), r.Input-1)
		end := min(r.Input, int(centre+radius*stretch+0.5))
		sum := 0.0
		for p := first; p < end; p++ {
			weight := kernel((float64(p) - centre + 0.5) * inverse)
			weights = append(weights, weight)
			sum += weight
		}
		if sum == 0 { // the centre was rounded to the end of the picture
			return first, append(weights[:0], 1)
		}
		for k := range weights {
			weights[k] /= sum
		}
		return first, weights
	}
}

func (r recipe) keras() spread {
	shrink := float32(r.Length) / float32(r.Output)
	place := func(i int) float32 { return float32((float32(i)+0.5)*shrink) + float32(r.Start) }
	switch {
	case r.Interpolation == Nearest:
		return r.point(func(i int) float64 { return float64(place(i)) })
	case r.Interpolation == Area:
		return r.overlaps(shrink)
	case r.Interpolation == Bilinear && r.Antialias:
		return r.spans32(1, linear32)
	case r.Interpolation == Bilinear:
		return r.neighbours(func(i int) float64 { return float64(place(i) - 0.5) }, pairs)
	case r.Interpolation == Bicubic && r.Antialias:
		return r.spans32(2, func(x float32) float32 {
			switch {
			case x >= 2:
				return 0
			case x >= 1:
				return float32(float32(float32(-0.5*x+2.5)*x-4)*x) + 2
			default:
				return float32(float32(float32(1.5*x-2.5)*x)*x) + 1
			}
		})
	case r.Interpolation == Bicubic:
		return r.table(func(i int) float32 { return place(i) - 0.5 })
	case r.Interpolation == Lanczos3:
		return r.spans32(3, lanczos32(3))
	case r.Interpolation == Gaussian:
		return r.spans32(1.5, gaussian32)
	case r.Interpolation == MitchellCubic:
		return r.spans32(2, mitchell32)
	default:
		return r.spans32(5, lanczos32(5))
	}
}

func linear32(x float32) float32 {
	if x < 1 {
		return 1 - x
	}
	return 0
}

func lanczos32(radius float32) func(x float32) float32 {
	sin := func(x float32) float32 { return float32(math.Sin(float64(x))) }
	return func(x float32) float32 {
		switch {
		case x > radius:
			return 0
		case x <= 1e-3:
			return 1
		}
		return radius * sin(math.Pi*x) * sin(math.Pi*x/radius) / (math.Pi * math.Pi * x * x)
	}
}

func gaussian32(x float32) float32 {
	if x >= 1.5 {
		return 0
	}
	return float32(math.Exp2(float64(-2*x*x) * math.Log2E)) // not Exp, which is not the same on every processor
}

func mitchell32(x float32) float32 {
	switch {
	case x >= 2:
		return 0
	case x >= 1:
		return float32(float32(float32(float32(-7.0/18*x)+2)*x-10.0/3)*x) + 16.0/9
	default:
		return float32(float32(float32(7.0/6*x)-2)*x*x) + 8.0/9
	}
}

// spans32 is TensorFlow's ScaleAndTranslate.
func (r recipe) spans32(radius float32, kernel func(x float32) float32) spread {
	shrink := 1 / (float32(r.Output) / float32(r.Length))
	stretch := float32(1)
	if r.Antialias {
		stretch = max(1, shrink)
	}
	start, reach, inverse, input := float32(r.Start), radius*stretch, 1/stretch, r.Input
	return func(i int, weights []float64) (int, []float64) {
		centre := float32((float32(i)+0.5)*shrink) + start
		// The first pixel is the ceiling and the last the floor, within the picture.
		before, after := centre-reach-0.5, centre+reach-0.5
		first, last := max(0, int(before)), min(max(0, int(after)), input-1)
		if float32(first) < before {
			first++
		}
		first = min(first, input-1)
		sum := float32(0)
		for p := first; p <= last; p++ {
			distance := (float32(p) + 0.5 - centre) * inverse
			if distance < 0 {
				distance = -distance
			}
			weight := kernel(distance)
			weights = append(weights, float64(weight))
			sum += weight
		}
		sum = 1 / sum
		for k, weight := range weights {
			weights[k] = float64(float32(weight) * sum)
		}
		return first, weights
	}
}

// table is TensorFlow's ResizeBicubic: places rounded to 1/1024 of a pixel, and only pixels within the picture.
func (r recipe) table(place func(i int) float32) spread {
	kernel := cubic(-0.5)
	return func(i int, weights []float64) (int, []float64) {
		x := place(i)
		floor := float32(math.Floor(float64(x)))
		fraction := math.RoundToEven(float64((x-floor)*1024)) / 1024
		before := int(floor) - 1
		first, last := r.clamp(before), r.clamp(before+3)
		sum := float32(0)
		for p := first; p <= last; p++ {
			weight := float32(kernel(float64(p-before-1) - fraction))
			weights = append(weights, float64(weight))
			sum += weight
		}
		for k, weight := range weights {
			weights[k] = float64(float32(weight) * (1 / sum))
		}
		return first, weights
	}
}

// overlaps is TensorFlow's ResizeArea: how much of each pixel lies in the interval that becomes pixel i.
func (r recipe) overlaps(shrink float32) spread {
	return func(i int, weights []float64) (int, []float64) {
		start := float32(float32(i)*shrink) + float32(r.Start)
		end := float32(float32(i+1)*shrink) + float32(r.Start)
		first := r.clamp(int(start))
		sum := float32(0)
		for p := first; p == first || float32(p) < end; p++ {
			weight := min(float32(p+1), end) - max(float32(p), start)
			if float32(p) < start && end < float32(p+1) {
				weight = shrink
			}
			if sum += weight; p < r.Input {
				weights = append(weights, float64(weight))
			} else {
				weights[len(weights)-1] += float64(weight)
			}
		}
		if math.Abs(float64(sum/shrink-1)) > 0.01 { // the interval is too short for its ends in float32
			return first, append(weights[:0], float64(shrink))
		}
		return first, weights
	}
}

func (r recipe) pillow() spread {
	start, end := float32(r.Start), float32(r.Start+r.Length) // Pillow's boxes are float32
	scale := float64(end-start) / float64(r.Output)
	switch r.Interpolation {
	case Nearest:
		next, x := 0, float64(start)+scale/2
		return r.point(func(i int) float64 {
			for ; next < i; next++ {
				x += scale // one by one, as Pillow does, for the same roundings
			}
			return x
		})
	case Bilinear:
		return r.spans(float64(start), scale, 1, linear)
	case Bicubic:
		return r.spans(float64(start), scale, 2, cubic(-0.5))
	case Area:
		return r.spans(float64(start), scale, 0.5, box)
	default:
		return r.spans(float64(start), scale, 3, lanczos(3))
	}
}

func (r recipe) torchvision() spread {
	scale := r.Length / float64(r.Output)
	place := func(i int) float64 { return r.Start + float64((float64(i)+0.5)*scale) - 0.5 }
	switch {
	case r.Interpolation == Nearest:
		scale := float32(scale)
		return r.point(func(i int) float64 { return r.Start + float64(float32(i)*scale) })
	case r.Interpolation == Lanczos3:
		return r.spans(r.Start, scale, 3, lanczos(3))
	case r.Antialias && r.Interpolation == Bilinear:
		return r.spans(r.Start, scale, 1, linear)
	case r.Antialias:
		return r.spans(r.Start, scale, 2, cubic(-0.5))
	case r.Interpolation == Bilinear:
		return r.neighbours(place, pairs)
	default:
		return r.neighbours(place, around(2, cubic(-0.75)))
	}
}

func (r recipe) opencv() spread {
	scale := 1 / (float64(r.Output) / r.Length)
	place := func(i int) float64 { return float64(float32(r.Start + float64((float64(i)+0.5)*scale) - 0.5)) }
	// Weights are integers, whose sum need not be 1.
	round := func(kernel fan) fan {
		return func(fraction float64, weights []float64) []float64 {
			weights = kernel(fraction, weights)
			for k, weight := range weights {
				weights[k] = math.RoundToEven(float64(float32(weight)) * (1 << opencvBits))
			}
			return weights
		}
	}
	switch {
	case r.Interpolation == Nearest:
		return r.point(func(i int) float64 { return r.Start + float64(float64(i)*scale) })
	case r.Interpolation == Bilinear:
		return r.neighbours(place, round(pairs))
	case r.Interpolation == Bicubic: // by Intel's primitives, which the wheels of OpenCV use, in float32
		return r.neighbours(place, around(2, cubic(-0.75)))
	case r.Interpolation == Lanczos4:
		kernel := around(4, lanczos(4))
		return r.neighbours(place, round(func(fraction float64, weights []float64) []float64 {
			weights = kernel(fraction, weights)
			sum := 0.0
			for _, weight := range weights {
				sum += weight
			}
			for k := range weights {
				weights[k] /= sum
			}
			return weights
		}))
	case r.enlarging: // linear, at other places
		return r.neighbours(func(i int) float64 {
			pixel := math.Floor(float64(i) * scale)
			fraction := max(0, float32(float64(i+1)-(pixel+1)/scale))
			return r.Start + pixel + float64(fraction-float32(math.Floor(float64(fraction))))
		}, round(pairs))
	default:
		return r.cells(scale)
	}
}

// cells is OpenCV's area where both axes shrink: how much of each pixel lies in the interval that becomes pixel i, if more
// than a thousandth. Where both shrink by a whole number, pixels are summed before they are divided.
func (r recipe) cells(scale float64) spread {
	return func(i int, weights []float64) (int, []float64) {
		start := r.Start + float64(float64(i)*scale)
		end := start + scale
		cell := min(scale, r.Start+r.Length-start)
		last := min(int(end), r.Input-1)
		first := min(int(math.Ceil(start)), last)
		if before := float64(first) - start; before > 1e-3 {
			weights = append(weights, before/cell)
			first--
		}
		for p := first + len(weights); p < last; p++ {
			weights = append(weights, 1/cell)
		}
		if after := end - float64(last); after > 1e-3 {
			weights = append(weights, min(after, 1, cell)/cell)
		}
		if r.whole {
			for k := range weights {
				weights[k] = 1
			}
		}
		return first, weights
	}
}
