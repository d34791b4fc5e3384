package loader

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"math/rand/v2"
	"testing"

	"tfgoloader/gocore/mix"
)

func mixing(workers int) Spec {
	s := spec()
	s.OneHot = &OneHot{Classes: 30}
	s.BatchOps = []json.RawMessage{json.RawMessage(`{"op":"MixUp","alpha":1}`), json.RawMessage(`{"op":"CutMix","factor":[1,1]}`)}
	s.Workers, s.OnError, s.MaxBad = workers, "skip", 100
	return s
}

// everything is an epoch's batches, byte by byte.
func everything(t *testing.T, epoch *Epoch) (all []byte) {
	t.Helper()
	for {
		s, err := take(epoch)
		if errors.Is(err, ErrEnd) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, array := range s.layout.arrays {
			for slot := range int(s.c.samples) {
				all = append(all, s.row(array, slot)...)
			}
		}
		s.release()
	}
}

func TestMixedBatchesAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	l := spoiled(t, 22, 3, 20, 21)
	var want []byte
	for _, workers := range []int{1, 2, 7} {
		loader := open(t, l, mixing(workers))
		var got []byte
		for range 3 {
			got = append(got, everything(t, begin(t, loader))...)
		}
		if want == nil {
			want = got
		}
		if len(got) != 3*19*(16*16*3+4*30) || !bytes.Equal(got, want) {
			t.Errorf("%d workers: other batches, or not all", workers)
		}
	}
}

func TestAnEpochIsBrokenOffWhileItsBatchesAreMixed(t *testing.T) {
	l := pictures(t, 22)
	for range 30 {
		loader := open(t, l, mixing(3))
		epoch := begin(t, loader)
		s, err := take(epoch)
		if err != nil {
			t.Fatal(err)
		}
		s.release()
		if err := epoch.Close(); err != nil {
			t.Error(err)
		}
		if got := len(everything(t, begin(t, loader))); got != 22*(16*16*3+4*30) {
			t.Errorf("the epoch after has %d bytes", got)
		}
		if err := loader.Close(); err != nil {
			t.Error(err)
		}
	}
}

// panics is a defect.
type panics struct{ mix.Operation }

func (panics) Draw(*rand.Rand, int, image.Point) []mix.Share { panic("a defect") }

func TestAPanicWhileMixingTakesThePlaceOfItsBatch(t *testing.T) {
	loader := open(t, pictures(t, 8), mixing(2))
	loader.plan.wholes = []whole{{mixture: panics{}}}
	epoch := begin(t, loader)
	for range 2 {
		if _, err := take(epoch); !errors.Is(err, ErrPanic) {
			t.Errorf("got %v, want a panic", err)
		}
	}
	if _, err := take(epoch); !errors.Is(err, ErrEnd) {
		t.Errorf("after the last batch: %v", err)
	}
}

func TestMixingNeedsRowsAsLabels(t *testing.T) {
	s := mixing(1)
	s.OneHot = nil
	if _, err := New(pictures(t, 3), s); !errors.Is(err, ErrConfig) {
		t.Errorf("got %v, want %v", err, ErrConfig)
	}
}
