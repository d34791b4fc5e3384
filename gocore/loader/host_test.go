package loader

import (
	"errors"
	"runtime"
	"testing"
)

func TestHostsAreAsManyAsItTakes(t *testing.T) {
	l := open(t, pictures(t, 4), withFunction(spec(), 2))
	group := serve(t, l, func(*area) string { return "" })
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
	if plain := open(t, pictures(t, 4), spec()); plain.Hosts() != 0 {
		t.Errorf("%d hosts where there is no function", plain.Hosts())
	}
}

func TestCloseDoesNotWaitForFunctions(t *testing.T) {
	l := open(t, pictures(t, 12), withFunction(spec(), 2))
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	group := serve(t, l, func(*area) string {
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
	if _, err := l.OpenArea(1); !errors.Is(err, ErrClosed) {
		t.Errorf("OpenArea: %v", err)
	}
	l.FinishCall(1, 0, "") // nobody waits for it
}
