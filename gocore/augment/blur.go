package augment

import (
	"fmt"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// RandomGaussianBlur is keras.layers.RandomGaussianBlur: with a probability that is itself drawn from Factor, a Gaussian
// window, KernelSize wide, whose deviation is drawn from Sigma for either axis.
type RandomGaussianBlur struct {
	Factor     interval
	KernelSize int `json:"kernel_size"`
	Sigma      interval
}

func (r *RandomGaussianBlur) String() string {
	return fmt.Sprintf("RandomGaussianBlur(factor=%v, kernel_size=%d, sigma=%v)", r.Factor, r.KernelSize, r.Sigma)
}

// Draw draws the probability, then whether, then the deviation along rows and that across them.
func (r *RandomGaussianBlur) Draw(random *rand.Rand) Filter {
	if !r.Factor.happens(random) {
		return nil
	}
	const least = 1e-6 // Keras' own
	x := r.Sigma.draw(random) + least
	y := r.Sigma.draw(random) + least
	radius := r.KernelSize / 2
	return &blur{gaussian(radius, x), gaussian(radius, y), parameters{{"sigma_x", x}, {"sigma_y", y}}}
}

// blur has a weight for each distance.
type blur struct {
	along, across []float32
	parameters
}

func (b *blur) Reach() int { return len(b.along) - 1 }

func (b *blur) Apply(picture pixel.Picture, work *Work) {
	pixel.Blur(picture, b.along, b.across, &work.buffer)
}

// gaussian gives weights whose sum, over both sides, is 1.
func gaussian(radius int, sigma float64) []float32 {
	weights := make([]float64, radius+1)
	sum := -1.0
	for t := range weights {
		weights[t] = sample.Decay(float64(t) * float64(t) / (2 * sigma * sigma))
		sum += 2 * weights[t]
	}
	rounded := make([]float32, radius+1)
	for t, weight := range weights {
		rounded[t] = float32(weight / sum)
	}
	return rounded
}
