package mix

import (
	"math"
	"math/rand/v2"
)

// beta draws from the law Beta(alpha, alpha): the share of the first of two numbers of the law Gamma(alpha). Their
// logarithms are used, since a small alpha makes numbers that are too small for float64.
func beta(random *rand.Rand, alpha float64) float64 {
	difference := logGamma(random, alpha) - logGamma(random, alpha)
	// Not math.Exp, which is rounded differently where the processor multiplies and adds in one go.
	smaller := math.Exp2(-math.Abs(difference) * math.Log2E)
	if difference < 0 {
		return smaller / (1 + smaller)
	}
	return 1 / (1 + smaller)
}

// logGamma draws the logarithm of a number of the law Gamma(alpha), by the method of Marsaglia and Tsang (2000), which is
// for an alpha of at least 1; a smaller one is brought there by the factor U^(1/alpha).
func logGamma(random *rand.Rand, alpha float64) float64 {
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
