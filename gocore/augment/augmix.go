package augment

import (
	"errors"
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
		return in, errors.New("all three are above 0")
	}
	return a.Ops.same(in)
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
	size := (len(m.chains) + 1) * samples
	work.kept = slices.Grow(work.kept[:0], size)[:size]
	made, copied := work.kept[:size-samples], work.kept[size-samples:]
	for c := range m.chains {
		inner := &m.chains[c]
		part := picture.Part(inner.Decode)
		if inner.changes() {
			rows := copied[:0]
			for y := range part.Height {
				rows = append(rows, part.Pix[y*part.Stride:][:part.Width*part.Channels]...)
			}
			part.Pix, part.Stride = rows, part.Width*part.Channels
		}
		if err := inner.Write(made[c*samples:][:samples], part, writer, work.inner); err != nil {
			panic(err) // sizes are what they are
		}
	}
	pixel.WeightedSum(picture, float32(m.own), made, m.weights)
}
