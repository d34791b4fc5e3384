package loader

import (
	"errors"
	"reflect"
	"runtime"
	"testing"
)

// delivered is a batch as the user sees it, and where a run goes on after it.
type delivered struct {
	images string
	labels []int64
	after  Position
}

func deliveries(t *testing.T, epoch *Epoch) (batches []delivered) {
	t.Helper()
	for {
		s, err := take(epoch)
		if errors.Is(err, ErrEnd) {
			return batches
		}
		if err != nil {
			t.Fatal(err)
		}
		after := Position{int64(s.c.epoch), int64(s.c.batch) + 1, -1}
		if epoch.loader.plan.skips() {
			after.Tail = int64(s.c.tail)
		}
		d := delivered{after: after}
		for slot := range int(s.c.samples) {
			d.images += string(s.row(s.layout.arrays[0], slot))
			d.labels = append(d.labels, label(s, slot))
		}
		batches = append(batches, d)
		s.release()
	}
}

func beginAt(t *testing.T, l *Loader, at Position) *Epoch {
	t.Helper()
	epoch, err := l.Begin(at)
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}

func TestARunGoesOnAnywhere(t *testing.T) {
	for _, policy := range []string{"raise", "replace", "skip"} {
		for _, bad := range [][]int{{}, {0}, {3, 4, 5, 20, 21}, {18, 19, 20, 21}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}} {
			if policy == "raise" && len(bad) > 0 {
				continue
			}
			l := spoiled(t, 22, bad...)
			for _, drop := range []bool{false, true} {
				s := spec()
				s.OnError, s.MaxBad, s.DropRemainder = policy, 100, drop
				whole := open(t, l, s)
				resumed := open(t, l, s) // one loader jumps about, backwards too
				for number := range int64(3) {
					want := deliveries(t, begin(t, whole))
					if got := deliveries(t, beginAt(t, resumed, Position{number, 0, -1})); !reflect.DeepEqual(got, want) {
						t.Fatalf("%s, bad %v, drop %v, epoch %d: %v, want %v", policy, bad, drop, number, got, want)
					}
					for after, d := range want {
						got := deliveries(t, beginAt(t, resumed, d.after))
						if len(got)+after+1 != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want[after+1:]) {
							t.Fatalf("%s, bad %v, drop %v, at %v: %v, want %v", policy, bad, drop, d.after, got, want[after+1:])
						}
					}
				}
			}
		}
	}
}

func TestNothingIsReadForTheBatchesBefore(t *testing.T) {
	s := spec()
	s.Prefetch, s.Workers = 0, 1
	loader := open(t, pictures(t, 40), s)
	epoch := beginAt(t, loader, Position{1 << 40, 8, -1})
	if _, labels := all(t, epoch); len(labels) != 8 {
		t.Errorf("%d samples, want the last 8", len(labels))
	}
	window := loader.plan.window()
	for int64(loader.Stats().QueueDepth) < window {
		runtime.Gosched()
	}
	if images := loader.Stats().Images; images != 8+4*window {
		t.Errorf("%d images were read, want 8 and the next epoch's first %d", images, 4*window)
	}
	if next := begin(t, loader); next.number != 1<<40+1 {
		t.Errorf("epoch %d follows", next.number)
	}
}

func TestThePreparedEpochIsUsedOrDropped(t *testing.T) {
	loader := open(t, pictures(t, 40), spec())
	prepared := func(number int64) *Epoch {
		t.Helper()
		for {
			loader.mu.Lock()
			ahead := loader.ahead
			loader.mu.Unlock()
			if ahead != nil {
				if ahead.number != number {
					t.Errorf("epoch %d is prepared, want %d", ahead.number, number)
				}
				return ahead
			}
			runtime.Gosched()
		}
	}
	all(t, begin(t, loader))
	ahead := prepared(1)
	if epoch := beginAt(t, loader, Position{1, 0, -1}); epoch != ahead {
		t.Error("the prepared epoch was not used")
	} else {
		all(t, epoch)
	}
	for _, at := range []Position{{1, 0, -1}, {7, 0, -1}, {8, 3, -1}} {
		epoch := beginAt(t, loader, at)
		all(t, epoch)
		ahead = prepared(at.Epoch + 1)
		if !epoch.over || epoch.number != at.Epoch {
			t.Errorf("epoch %d at %v", epoch.number, at)
		}
	}
	loader.mu.Lock()
	left := len(loader.epochs)
	loader.mu.Unlock()
	if left != 1 || begin(t, loader) != ahead {
		t.Errorf("%d epochs are left, want the prepared one", left)
	}
}

func TestPositionsThatAreNone(t *testing.T) {
	l := pictures(t, 22)
	skip := spec()
	skip.OnError = "skip"
	for name, s := range map[string]Spec{"raise": spec(), "skip": skip} {
		loader := open(t, l, s)
		for _, at := range []Position{{-1, 1, -1}, {-2, 0, -1}, {0, -1, -1}, {0, 7, -1}, {0, 1, 23}, {0, 1, -2}} {
			if _, err := loader.Begin(at); !errors.Is(err, ErrConfig) {
				t.Errorf("%s, %v: %v", name, at, err)
			}
		}
		if _, err := loader.Begin(Position{0, 1, 22}); (err == nil) != (name == "skip") {
			t.Errorf("%s, a tail: %v", name, err)
		}
		if _, labels := all(t, beginAt(t, loader, Position{0, 6, -1})); len(labels) != 0 {
			t.Errorf("%s: after the last batch: %v", name, labels)
		}
	}
}
