package loader

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unsafe"

	"golang.org/x/sync/errgroup"
)

// withWhole puts a function for batches after a crop.
func withWhole(s Spec, shared string) Spec {
	s.Ops = []json.RawMessage{json.RawMessage(`{"op":"CenterCrop","height":16,"width":16}`)}
	s.BatchOps = []json.RawMessage{json.RawMessage(`{"op":"Python","name":"f","workers":2,"shared":` + shared + `}`)}
	return s
}

// brighten adds one to the pictures of a slab's memory.
func brighten(memory []byte, images *Array, samples int) {
	for i := range memory[images.Offset:][:samples*images.row] {
		memory[images.Offset+i]++
	}
}

func TestFunctionsChangeBatches(t *testing.T) {
	samples := pictures(t, 12)
	plain := spec()
	plain.Shuffle, plain.DType = false, "uint8"
	for _, shared := range []string{"true", "false"} {
		l := open(t, samples, withWhole(plain, shared))
		images := l.Arrays()[0]
		var hosts *errgroup.Group
		if shared == "true" {
			hosts = serve(t, l, func(a *area) string {
				brighten(a.memory, images, 4)
				return ""
			})
		} else {
			hosts = new(errgroup.Group)
			for range l.Hosts() {
				hosts.Go(func() error {
					return l.host(func(_ int, call Call) {
						slab := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), call.Area)), l.plan.layout.size)
						brighten(slab, images, 4)
						l.FinishCall(call.ID, 0, "")
					})
				})
			}
		}
		for range 2 {
			epoch := begin(t, l)
			for {
				s, err := take(epoch)
				if errors.Is(err, ErrEnd) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for slot := range int(s.c.samples) {
					label := s.row(l.plan.labels, slot)[0]
					if want := bytes.Repeat([]byte{10*label + 1}, 16*16*3); !bytes.Equal(s.row(images, slot), want) {
						t.Errorf("shared %s: sample %d is %v", shared, label, s.row(images, slot)[:6])
					}
				}
				s.release()
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := hosts.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestAFunctionThatFailsTakesThePlaceOfItsBatch(t *testing.T) {
	s := withWhole(spec(), "true")
	s.OnError, s.MaxBad = "skip", 100
	l := open(t, pictures(t, 12), s)
	serve(t, l, func(*area) string { return "no" })
	epoch := begin(t, l)
	for number := range 3 {
		_, err := take(epoch)
		var sample *SampleError
		if !errors.As(err, &sample) || !errors.Is(err, ErrFunction) || sample.Index != noSample {
			t.Errorf("batch %d: %v", number, err)
		}
	}
	if _, err := take(epoch); !errors.Is(err, ErrEnd) {
		t.Errorf("after the last batch: %v", err)
	}
}

func TestFunctionsOfBatchesAreForOneView(t *testing.T) {
	s := withWhole(spec(), "false")
	s.Views = 2
	if _, err := New(pictures(t, 3), s); !errors.Is(err, ErrConfig) {
		t.Errorf("got %v, want %v", err, ErrConfig)
	}
}
