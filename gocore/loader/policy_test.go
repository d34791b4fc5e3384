package loader

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"tfgoloader/gocore/jpeg"
	"tfgoloader/gocore/png"
	"tfgoloader/gocore/source"
	"tfgoloader/gocore/tiff"
	"tfgoloader/gocore/webp"
)

// spoiled makes pictures of which some are no pictures.
func spoiled(t *testing.T, count int, bad ...int) *source.List {
	t.Helper()
	l := pictures(t, count)
	for _, index := range bad {
		write(t, l.Path(index), []byte("<html>"))
	}
	return l
}

// skipped is the documented rule in the plainest words: batch by batch, the places of bad samples go, in order, to what
// comes last in the order that is left, and again until the batch holds no bad one.
func skipped(order []int64, bad map[int64]bool, size int) []int64 {
	order = slices.Clone(order)
	for first := 0; first < len(order); first += size {
		for again := true; again; {
			again = false
			for position := first; position < min(first+size, len(order)); position++ {
				if last := len(order) - 1; bad[order[position]] {
					order[position] = order[last]
					order = order[:last]
					again = true
				}
			}
		}
	}
	return order
}

func TestSkipKeepsBatchesFullAndLosesNoGoodSample(t *testing.T) {
	cases := [][]int{{}, {0}, {21}, {3, 4, 5, 20, 21}, {18, 19, 20, 21}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}
	for seed := range uint64(6) { // where most are bad, those at the end of the order are moved more than once
		cases = append(cases, rand.New(rand.NewPCG(seed, 0)).Perm(22)[:17+seed])
	}
	for _, bad := range cases {
		l := spoiled(t, 22, bad...)
		isBad := map[int64]bool{}
		for _, index := range bad {
			isBad[int64(index)] = true
		}
		for _, workers := range []int{1, 2, 7} {
			for _, drop := range []bool{false, true} {
				s := spec()
				s.OnError, s.MaxBad, s.Workers, s.DropRemainder = "skip", 100, workers, drop
				loader := open(t, l, s)
				for range 3 {
					epoch := begin(t, loader)
					order := make([]int64, 22)
					for position := range order {
						order[position] = epoch.order.At(int64(position))
					}
					want := skipped(order, isBad, 4)
					if len(want) != 22-len(bad) {
						t.Fatalf("bad %v: the rule gives %v", bad, want)
					}
					if drop {
						want = want[:len(want)/4*4]
					}
					if _, labels := all(t, epoch); !slices.Equal(labels, want) {
						t.Fatalf("bad %v, %d workers, drop %v: %v, want %v", bad, workers, drop, labels, want)
					}
					if !drop && len(loader.BadFiles()) != len(bad) {
						t.Errorf("bad %v: listed %v", bad, loader.BadFiles())
					}
				}
			}
		}
	}
}

func TestReplaceKeepsTheLengthAndIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	l := spoiled(t, 22, 1, 2, 3, 10, 21)
	var want []int64
	for _, workers := range []int{1, 2, 7} {
		s := spec()
		s.OnError, s.MaxBad, s.Workers = "replace", 5, workers
		loader := open(t, l, s)
		var got []int64
		for range 3 {
			_, labels := all(t, begin(t, loader))
			got = append(got, labels...)
		}
		if want == nil {
			want = got
		}
		if len(got) != 66 || !slices.Equal(got, want) {
			t.Errorf("%d workers: %v, want %v", workers, got, want)
		}
		if files := loader.BadFiles(); len(files) != 5 || files[3].Path != l.Path(10) || !strings.Contains(files[3].Reason, "HTML") {
			t.Errorf("bad files %v", files)
		}
	}
	for _, label := range want {
		if slices.Contains([]int64{1, 2, 3, 10, 21}, label) {
			t.Errorf("bad sample %d is in a batch", label)
		}
	}
}

func TestReplaceGivesUpWhereEverythingIsBad(t *testing.T) {
	s := spec()
	s.OnError, s.MaxBad = "replace", 100
	var failure *SampleError
	if _, _, err := next(begin(t, open(t, spoiled(t, 2, 0, 1), s))); !errors.As(err, &failure) {
		t.Errorf("got %v, want the failure of a sample", err)
	}
	s.OnError = "skip"
	if _, _, err := next(begin(t, open(t, spoiled(t, 2, 0, 1), s))); !errors.Is(err, ErrEnd) {
		t.Errorf("got %v, want the end", err)
	}
}

func TestTooManyBadFilesEndTheRunWithAList(t *testing.T) {
	l := spoiled(t, 22, 1, 2, 3)
	for _, policy := range []string{"skip", "replace"} {
		s := spec()
		s.OnError, s.MaxBad = policy, 2
		epoch := begin(t, open(t, l, s))
		var err error
		for err == nil {
			_, _, err = next(epoch)
		}
		if !errors.Is(err, ErrTooManyBad) {
			t.Fatalf("%s: %v", policy, err)
		}
		for _, index := range []int{1, 2, 3} {
			if !strings.Contains(err.Error(), l.Path(index)) {
				t.Errorf("%s: %v does not name %s", policy, err, l.Path(index))
			}
		}
		if _, _, err := next(epoch); !errors.Is(err, ErrEnd) {
			t.Errorf("%s: after that: %v", policy, err)
		}
	}
}

func TestExcludedSamplesDoNotComeAndChangeNoOther(t *testing.T) {
	l := pictures(t, 22)
	whole, without := spec(), spec()
	without.Exclude = []int64{0, 1, 5, 21}
	pixelsOf := func(s Spec) map[int64]string {
		images, labels := all(t, begin(t, open(t, l, s)))
		out := map[int64]string{}
		for slot, label := range labels {
			out[label] = string(images[slot*16*16*3:][:16*16*3])
		}
		return out
	}
	want, got := pixelsOf(whole), pixelsOf(without)
	for _, index := range without.Exclude {
		delete(want, index)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("other samples, or other pixels")
	}
	for _, exclude := range [][]int64{{-1}, {22}, {3, 3}, {4, 2}} {
		s := spec()
		s.Exclude = exclude
		if _, err := New(l, s); !errors.Is(err, ErrConfig) {
			t.Errorf("exclude %v: %v", exclude, err)
		}
	}
}

func TestADefectIsNeverPassedOver(t *testing.T) {
	for _, policy := range []string{"skip", "replace"} {
		s := spec()
		s.OnError, s.MaxBad = policy, 100
		loader := open(t, pictures(t, 8), s)
		loader.plan.pipeline = nil
		if _, _, err := next(begin(t, loader)); !errors.Is(err, ErrPanic) {
			t.Errorf("%s: %v, want %v", policy, err, ErrPanic)
		}
	}
}

func TestAFileThatGoesIsABadFile(t *testing.T) {
	l := pictures(t, 8)
	if err := os.Remove(l.Path(3)); err != nil {
		t.Fatal(err)
	}
	s := spec()
	s.OnError, s.MaxBad = "skip", 1
	if _, labels := all(t, begin(t, open(t, l, s))); len(labels) != 7 || slices.Contains(labels, 3) {
		t.Errorf("labels %v", labels)
	}
}

func TestNoMemoryForAPictureIsNotTheFilesFault(t *testing.T) {
	for _, err := range []error{jpeg.ErrMemory, png.ErrMemory, tiff.ErrMemory, webp.ErrMemory} {
		if err = fmt.Errorf("a decoder: %w", err); !fatal(err) || !errors.Is(err, ErrMemory) {
			t.Errorf("%v is passed over", err)
		}
	}
	if fatal(fmt.Errorf("a decoder: %w", jpeg.ErrCorrupt)) {
		t.Error("a corrupt file is not passed over")
	}
}
