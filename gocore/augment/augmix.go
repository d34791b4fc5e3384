package augment

import (
	"fmt"
	"image"
	"math/rand/v2"
	"slices"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// AugMix is keras.layers.AugMix: the picture is blended with a blend of what chains of operations make of it.
// D. Hendrycks et al., AugMix (2020).
type AugMix struct {
	Ops    list
	Chains int     `json:"num_chains"`
	Depth  int     `json:"chain_depth"`
	Alpha  float64 // of the weights' Dirichlet and beta distributions
}

func (a *AugMix) String() string {
	return fmt.Sprintf("AugMix(num_chains=%d, chain_depth=%d, alpha=%v)", a.Chains, a.Depth, a.Alpha)
}

// OutputSize is that of the input.
func (a *AugMix) OutputSize(in image.Point) (image.Point, error) {
	if a.Chains < 1 || a.Depth < 1 || !(a.Alpha > 0) {
		return in, fmt.Errorf("%s: all three are above 0", a)
	}
	return a.Ops.same(in, a.String())
}

func (a *AugMix) levels() bool { return true }

// Apply draws the chains' weights, that of the picture, and then as many operations for each chain, or none in the place
// of one.
func (a *AugMix) Apply(plan *Plan, random *rand.Rand) error {
	weights := dirichlet(random, a.Chains, a.Alpha)
	view := plan.last().View
	m := &mixture{own: sample.Beta(random, a.Alpha)}
	for _, weight := range weights {
		plan.trace.begin("chain")
		// A chain begins with what is seen, and ends in the picture's own frame.
		inner := whole(view.Window.Size())
		inner.trace = plan.trace
		inner.last().FlipX, inner.last().FlipY = view.FlipX, view.FlipY
		for range a.Depth {
			if i := random.IntN(len(a.Ops) + 1); i < len(a.Ops) {
				if err := inner.apply(a.Ops[i], random); err != nil {
					return err
				}
			}
		}
		last := inner.last()
		last.FlipX, last.FlipY = last.FlipX != view.FlipX, last.FlipY != view.FlipY
		plan.trace.end()
		inner.narrow()
		m.chains = append(m.chains, inner)
		m.weights = append(m.weights, float32((1-m.own)*weight))
	}
	if plan.trace != nil {
		plan.trace.note("own_weight", m.own)
		plan.trace.note("weights", m.weights)
	}
	plan.add(m)
	return nil
}

// dirichlet draws numbers whose sum is 1: the shares of as many numbers of the law Gamma(alpha).
func dirichlet(random *rand.Rand, count int, alpha float64) []float64 {
	shares := make([]float64, count)
	for i := range shares {
		shares[i] = sample.LogGamma(random, alpha)
	}
	largest, sum := slices.Max(shares), 0.0
	for i := range shares {
		shares[i] = sample.Decay(largest - shares[i])
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// mixture is AugMix, drawn.
type mixture struct {
	own     float64 // the picture's weight
	chains  []Plan
	weights []float32
}

func (m *mixture) Reach() int { return Whole }

func (m *mixture) Apply(picture pixel.Picture, work *Work) {
	if work.inner == nil {
		work.inner = new(Work)
	}
	writer := work.inner.writer(picture.Channels)
	samples := writer.Bytes(picture.Width, picture.Height)
	sums := slices.Grow(work.sums[:0], samples)[:samples]
	work.sums = sums
	width := picture.Width * picture.Channels
	for y := range picture.Height {
		for i, value := range picture.Pix[y*picture.Stride:][:width] {
			sums[y*width+i] = float32(m.own) * float32(value)
		}
	}
	buffers := slices.Grow(work.kept[:0], 2*samples)[:2*samples]
	work.kept = buffers
	for c := range m.chains {
		inner, weight := &m.chains[c], m.weights[c]
		input := buffers[:0]
		part := picture.Part(inner.Decode)
		for y := range part.Height {
			input = append(input, part.Pix[y*part.Stride:][:part.Width*part.Channels]...)
		}
		part.Pix, part.Stride = input, part.Width*part.Channels
		made := buffers[samples:]
		if err := inner.Write(made, part, writer, work.inner); err != nil {
			panic(err) // sizes are what they are
		}
		for i, value := range made {
			sums[i] += weight * float32(value)
		}
	}
	for y := range picture.Height {
		row := picture.Pix[y*picture.Stride:][:width]
		for i := range row {
			if picture.Channels < 4 || i%4 != 3 {
				row[i] = uint8(min(max(sums[y*width+i], 0), 255) + 0.5)
			}
		}
	}
}
