package loader

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
)

// withHosted puts a function between two crops that workers in the caller's threads call, so many at once.
func withHosted(s Spec, workers int) Spec {
	s = withFunction(s, workers)
	s.Ops[1] = json.RawMessage(bytes.Replace(s.Ops[1], []byte("{"), []byte(`{"hosted":true,`), 1))
	return s
}

// host makes workers of as many goroutines as it takes, and has them call a function.
func host(t *testing.T, l *Loader, function func(*area) string) *errgroup.Group {
	var group errgroup.Group
	for range l.Hosts() {
		group.Go(func() error {
			return l.host(func(position int, call Call) {
				own, err := mapped(l, call)
				if err != nil || position != 1 {
					t.Errorf("at %d: %v", position, err)
					return
				}
				defer own.close()
				l.FinishCall(call.ID, 0, function(own))
			})
		})
	}
	return &group
}

func TestHostedWorkersCallFunctions(t *testing.T) {
	plain := spec()
	plain.Shuffle = false
	l := open(t, pictures(t, 12), withHosted(plain, 2))
	var inside, most atomic.Int64
	var mu sync.Mutex
	group := host(t, l, func(a *area) string {
		mu.Lock()
		most.Store(max(most.Load(), inside.Add(1)))
		mu.Unlock()
		defer inside.Add(-1)
		return add(5)(a)
	})
	for range 3 {
		images, labels := all(t, begin(t, l))
		for i, label := range labels {
			want := bytes.Repeat([]byte{byte(10*label + 5)}, 16*16*3)
			if got := images[i*16*16*3:][:16*16*3]; !bytes.Equal(got, want) {
				t.Fatalf("sample %d is %v", i, got[:6])
			}
		}
	}
	if most.Load() > 2 {
		t.Errorf("%d calls at once", most.Load())
	}
	if stats := l.Stats().Functions; stats[0].Calls < 36 {
		t.Errorf("stats %+v", stats)
	}
	for len(l.hosts) > 0 { // until all have taken their workers
		runtime.Gosched()
	}
	if err := l.host(nil); !errors.Is(err, ErrConfig) {
		t.Errorf("one host too many: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if err := l.host(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCloseDoesNotWaitForHosts(t *testing.T) {
	l := open(t, pictures(t, 12), withHosted(spec(), 2))
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	group := host(t, l, func(*area) string {
		entered <- struct{}{}
		<-leave
		return ""
	})
	begin(t, l)
	<-entered
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	close(leave)
	if err := group.Wait(); err != nil && !errors.Is(err, ErrClosed) { // one may have come too late
		t.Error(err)
	}
}
