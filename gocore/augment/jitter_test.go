package augment

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestJitterIsFourOperationsInTheirOrder(t *testing.T) {
	jitter := RandomColorJitter{
		&interval{0.1, 0.1}, &interval{-0.4, 0.4}, &interval{0.3, 0.3}, &interval{0, 0}, always,
	}
	got, want := noisy(1, 20, 10, 3), noisy(1, 20, 10, 3)
	jitter.Draw(rand.New(rand.NewPCG(1, 1))).Apply(got, new(Work))
	for _, filter := range []Filter{brighten(0.1), stretch(1.4), saturate(0.3), turn(0)} {
		filter.Apply(want, new(Work))
	}
	if !bytes.Equal(got.Pix, want.Pix) {
		t.Error("the jitter is something else")
	}
}

func TestJitterLeavesOutWhatIsNotGiven(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	expect(t, (&RandomColorJitter{chance: always}).Draw(random), coloured(1, 2, 3), 1, 2, 3)
	expect(t, (&RandomColorJitter{Brightness: &interval{1, 1}, chance: always}).Draw(random), coloured(1, 2, 3), 255, 255, 255)
}
