package sample

import (
	"math"
	"math/rand/v2"
)

// Beta draws from the law Beta(alpha, alpha): the share of the first of two numbers of the law Gamma(alpha).
func Beta(random *rand.Rand, alpha float64) float64 {
	difference := LogGamma(random, alpha) - LogGamma(random, alpha)
	smaller := Decay(math.Abs(difference))
	if difference < 0 {
		return smaller / (1 + smaller)
	}
	return 1 / (1 + smaller)
}

// LogGamma draws the logarithm of a number of the law Gamma(alpha), by the method of G. Marsaglia and W. W. Tsang (2000),
// which is for an alpha of at least 1; a smaller one is brought there by the factor U^(1/alpha). A small alpha makes numbers
// that are too small for float64, hence the logarithm.
func LogGamma(random *rand.Rand, alpha float64) float64 {
	factor := 0.0
	if alpha < 1 {
		factor = math.Log(1-random.Float64()) / alpha
		alpha++
	}
	d := alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := random.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-random.Float64()) < float64(x*x)/2+d-float64(d*v)+float64(d*math.Log(v)) {
			return math.Log(d*v) + factor
		}
	}
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
