package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDecayIsTheExponential(t *testing.T) {
	for x := 0.0; x < 750; x += 0.013 {
		if got, want := Decay(x), math.Exp(-x); math.Abs(got-want) > 1e-12*want && want > 1e-300 {
			t.Fatalf("Decay(%v) = %v, want %v", x, got, want)
		}
	}
	if Decay(math.Inf(1)) != 0 {
		t.Error("Decay does not end")
	}
}

// follows tests draws against a distribution function: Kolmogorov and Smirnov's distance.
func follows(t *testing.T, draw func(*rand.Rand) float64, share func(float64) float64) {
	t.Helper()
	const draws = 20_000
	random := Random(3, 1, 4, 1)
	values := make([]float64, draws)
	for i := range values {
		values[i] = draw(random)
	}
	slices.Sort(values)
	distance := 0.0
	for i, value := range values {
		distance = max(distance, math.Abs(share(value)-float64(i)/draws), math.Abs(share(value)-float64(i+1)/draws))
	}
	if limit := 1.95 / math.Sqrt(draws); distance > limit { // one in a thousand exceeds it
		t.Errorf("distance %.4f, limit %.4f", distance, limit)
	}
}

func TestGammaAndBetaFollowTheirLaws(t *testing.T) {
	follows(t, func(r *rand.Rand) float64 { return Gamma(r, 1) }, func(x float64) float64 { return 1 - math.Exp(-x) })
	follows(t, func(r *rand.Rand) float64 { return Gamma(r, 3) },
		func(x float64) float64 { return 1 - math.Exp(-x)*(1+x+x*x/2) })
	// Half a square of a normal number.
	follows(t, func(r *rand.Rand) float64 { return Gamma(r, 0.5) }, func(x float64) float64 { return math.Erf(math.Sqrt(x)) })
	follows(t, func(r *rand.Rand) float64 { return Beta(r, 1, 1) }, func(x float64) float64 { return x })
	follows(t, func(r *rand.Rand) float64 { return Beta(r, 3, 1) }, func(x float64) float64 { return x * x * x })
	follows(t, func(r *rand.Rand) float64 { return Beta(r, 0.5, 0.5) },
		func(x float64) float64 { return 2 / math.Pi * math.Asin(math.Sqrt(x)) })
	follows(t, normal, func(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 })
}
