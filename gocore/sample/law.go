package sample

import (
	"math"
	"math/rand/v2"
)

// Gamma draws from the gamma distribution of the given shape and of scale 1: G. Marsaglia and W. W. Tsang, A Simple
// Method for Generating Gamma Variables (2000).
func Gamma(random *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return Gamma(random, shape+1) * Decay(-math.Log(1-random.Float64())/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := normal(random)
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-random.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// Beta draws from the beta distribution.
func Beta(random *rand.Rand, alpha, beta float64) float64 {
	x, y := Gamma(random, alpha), Gamma(random, beta)
	if x+y == 0 { // both are too small to tell
		return float64(random.IntN(2))
	}
	return x / (x + y)
}

// normal draws from the normal distribution: G. E. P. Box and M. E. Muller (1958).
func normal(random *rand.Rand) float64 {
	radius := math.Sqrt(-2 * math.Log(1-random.Float64()))
	return radius * math.Cos(2*math.Pi*random.Float64())
}

// Decay is exp(-x) for x >= 0. math.Exp is rounded differently where the processor multiplies and adds in one go.
func Decay(x float64) float64 {
	halvings := math.Floor(x / math.Ln2)
	if halvings > 1000 {
		return 0
	}
	x = float64(halvings*math.Ln2) - x // from -ln 2 to 0
	sum := 1.0
	for n := 20.0; n > 0; n-- {
		sum = 1 + float64(sum*x)/n
	}
	return math.Ldexp(sum, -int(halvings))
}
