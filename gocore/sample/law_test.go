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

const draws = 20_000

// follows tests draws against a distribution function: Kolmogorov and Smirnov's distance.
func follows(t *testing.T, draw func(*rand.Rand) float64, share func(float64) float64) {
	t.Helper()
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
	follows(t, func(r *rand.Rand) float64 { return math.Exp(LogGamma(r, 1)) }, func(x float64) float64 { return 1 - math.Exp(-x) })
	follows(t, func(r *rand.Rand) float64 { return math.Exp(LogGamma(r, 3)) },
		func(x float64) float64 { return 1 - math.Exp(-x)*(1+x+x*x/2) })
	// Half a square of a normal number.
	follows(t, func(r *rand.Rand) float64 { return math.Exp(LogGamma(r, 0.5)) }, func(x float64) float64 { return math.Erf(math.Sqrt(x)) })
	follows(t, func(r *rand.Rand) float64 { return Beta(r, 1) }, func(x float64) float64 { return x })
	follows(t, func(r *rand.Rand) float64 { return Beta(r, 3) }, func(x float64) float64 { return x * x * x * (10 - 15*x + 6*x*x) })
	follows(t, func(r *rand.Rand) float64 { return Beta(r, 2) }, func(x float64) float64 { return x * x * (3 - 2*x) })
	follows(t, func(r *rand.Rand) float64 { return Beta(r, 0.5) },
		func(x float64) float64 { return 2 / math.Pi * math.Asin(math.Sqrt(x)) })
}

func TestBetaOfASmallAlphaHasItsVarianceAndNoOtherValues(t *testing.T) {
	for _, alpha := range []float64{1e-6, 0.01, 0.2, 100} {
		sum, square := 0.0, 0.0
		for i := range draws {
			x := Beta(Random(7, 0, int64(i), 0), alpha)
			if !(x >= 0 && x <= 1) {
				t.Fatalf("alpha %v gives %v", alpha, x)
			}
			sum, square = sum+x-0.5, square+(x-0.5)*(x-0.5)
		}
		variance := 1 / (4 * (2*alpha + 1))
		if mean := sum / draws; math.Abs(mean) > 4*math.Sqrt(variance/draws) {
			t.Errorf("alpha %v: mean 0.5 + %v", alpha, mean)
		}
		if got := square / draws; math.Abs(got/variance-1) > 0.05 {
			t.Errorf("alpha %v: variance %v, want %v", alpha, got, variance)
		}
	}
}
