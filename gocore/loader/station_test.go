package loader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// withFunction puts a function between two crops of the loader's operations.
func withFunction(s Spec, workers int) Spec {
	s.Ops = []json.RawMessage{
		json.RawMessage(`{"op":"RandomCrop","height":18,"width":20}`),
		json.RawMessage(fmt.Sprintf(`{"op":"Python","name":"f","workers":%d}`, workers)),
		json.RawMessage(`{"op":"RandomCrop","height":16,"width":16}`),
	}
	return s
}

// serve makes workers of as many goroutines as it takes, and has them call a function, until the loader is closed.
func serve(t *testing.T, l *Loader, function func(*area) string) *errgroup.Group {
	var group errgroup.Group
	for range l.Hosts() {
		group.Go(func() error {
			return l.host(func(position int, call Call) {
				own, err := mapped(l, call)
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil || position != 1 {
					t.Errorf("at %d: %v", position, err)
					return
				}
				defer own.close()
				l.FinishCall(call.ID, time.Millisecond, function(own))
			})
		})
	}
	return &group
}

// mapped is the area of a call as those see it who are told of it: mapped by themselves, so that it stays.
func mapped(l *Loader, call Call) (*area, error) {
	fd, err := l.OpenArea(call.ID)
	if err != nil {
		return nil, err
	}
	var about unix.Stat_t
	if err := unix.Fstat(fd, &about); err != nil {
		return nil, err
	}
	memory, err := unix.Mmap(fd, 0, int(about.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return &area{memory: memory, shared: shared{fd: fd}}, err
}

func add(amount byte) func(*area) string {
	return func(a *area) string {
		for i := range a.picture(3).Pix {
			a.picture(3).Pix[i] += amount
		}
		return ""
	}
}

func TestFunctionsChangePictures(t *testing.T) {
	samples := pictures(t, 12)
	plain := spec()
	plain.Shuffle = false
	for _, workers := range []int{1, 4} {
		l := open(t, samples, withFunction(plain, workers))
		var inside, most atomic.Int64
		group := serve(t, l, func(a *area) string {
			now := inside.Add(1)
			defer inside.Add(-1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
			return add(3)(a)
		})
		for range 2 {
			images, labels := all(t, begin(t, l))
			for i, label := range labels {
				want := bytes.Repeat([]byte{byte(10*label + 3)}, 16*16*3)
				if got := images[i*16*16*3:][:16*16*3]; !bytes.Equal(got, want) {
					t.Fatalf("%d workers: sample %d is %v", workers, i, got[:6])
				}
			}
		}
		stats := l.Stats().Functions
		if len(stats) != 1 || stats[0].Name != "f" || stats[0].Position != 1 || stats[0].Calls < 24 || stats[0].CPUSeconds < 0.024 {
			t.Errorf("stats %+v", stats)
		}
		if most.Load() > int64(workers) {
			t.Errorf("%d calls at once, of %d", most.Load(), workers)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestAFunctionThatFailsIsABadSample(t *testing.T) {
	l := open(t, pictures(t, 12), withFunction(spec(), 2))
	serve(t, l, func(a *area) string {
		if a.call().index == 7 {
			return "seven"
		}
		return ""
	})
	epoch, failed := begin(t, l), 0
	for {
		_, _, err := next(epoch)
		if errors.Is(err, ErrEnd) {
			break
		}
		var sample *SampleError
		var function *FunctionError
		if errors.As(err, &sample) && errors.As(err, &function) && errors.Is(err, ErrFunction) {
			failed++
			if sample.Index != 7 || function.Reason != "seven" || function.Call == 0 {
				t.Errorf("%+v: %+v", sample, function)
			}
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if failed != 1 {
		t.Errorf("%d batches failed", failed)
	}
}

func TestAnAreaGrows(t *testing.T) {
	var a area
	defer a.close()
	for number, size := range []int{100, 5000, 1 << 20} {
		if err := a.reserve(size); err != nil {
			t.Fatal(err)
		}
		if len(a.memory) < size || a.number != number+1 || slices.Max(a.memory) != 0 {
			t.Errorf("area %d has %d bytes of %d", a.number, len(a.memory), size)
		}
		a.memory[size-1] = 1
		if err := a.reserve(size); err != nil || a.memory[size-1] != 1 {
			t.Errorf("an area that is large enough is another one: %v", err)
		}
	}
}
