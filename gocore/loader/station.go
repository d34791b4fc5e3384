package loader

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tfgoloader/gocore/augment"
)

// station is where samples wait for an operation of somebody else's.
type station struct {
	op                 *augment.External
	room               chan struct{} // holds as many calls as there may be of a Python function at once
	calls              atomic.Int64
	waiting, busy, cpu atomic.Int64 // nanoseconds
}

// request is one call of a Python function, which a worker waits for.
type request struct {
	station      *station
	memory       shared
	id           int64
	slot         int // the worker's number
	asked, taken time.Time
	done         chan error // has room for the answer, so nobody waits to give it
}

// calls are the requests that are not answered yet.
type calls struct {
	mu   sync.Mutex
	last int64
	open map[int64]*request
}

func newStation(op *augment.External, workers int) *station {
	if op.Workers > 0 {
		workers = op.Workers
	}
	return &station{op: op, room: make(chan struct{}, workers)}
}

// visit has a hosted worker call a Python function for what is in an area, or a slab.
func (l *Loader) visit(s *station, memory shared, w *worker) error {
	r := l.request(s, memory, w.number)
	defer l.forget(r.id)
	select {
	case s.room <- struct{}{}:
		defer func() { <-s.room }()
	case <-l.ctx.Done():
		return ErrClosed
	}
	r.taken = time.Now()
	s.waiting.Add(int64(r.taken.Sub(r.asked)))
	w.call(s.op.Position, Call{r.id, r.slot, memory.number})
	select {
	case err := <-r.done:
		return err
	default:
		if l.ctx.Err() == nil {
			return fmt.Errorf("%w: a call of %s was not finished", ErrPanic, s.op.Name)
		}
		return ErrClosed // it was not found any more
	}
}

// request makes one that can be found until it is forgotten.
func (l *Loader) request(s *station, memory shared, slot int) *request {
	r := &request{station: s, memory: memory, slot: slot, asked: time.Now(), done: make(chan error, 1)}
	l.calls.mu.Lock()
	defer l.calls.mu.Unlock()
	l.calls.last++
	r.id = l.calls.last
	if l.calls.open == nil {
		l.calls.open = map[int64]*request{}
	}
	l.calls.open[r.id] = r
	return r
}

func (l *Loader) forget(id int64) {
	l.calls.mu.Lock()
	defer l.calls.mu.Unlock()
	delete(l.calls.open, id)
}

// find gives nil for a call that nobody waits for any more.
func (l *Loader) find(id int64) *request {
	l.calls.mu.Lock()
	defer l.calls.mu.Unlock()
	return l.calls.open[id]
}

// Call is a sample that waits in an area for a Python function, of whose slot only the area of the highest number is in
// use; or a batch, in an area or, where Area is an address, in its slab.
type Call struct {
	ID         int64
	Slot, Area int
}

func (l *Loader) station(position int) *station {
	for _, s := range l.stations {
		if s.op.Position == position {
			return s
		}
	}
	return nil
}

// OpenArea gives a new file descriptor, the caller's, of the memory in which a call's sample lies.
func (l *Loader) OpenArea(id int64) (int, error) {
	l.calls.mu.Lock() // held all the time, so that the area stays
	defer l.calls.mu.Unlock()
	r := l.calls.open[id]
	if r == nil {
		return 0, ErrClosed
	}
	fd, err := unix.FcntlInt(uintptr(r.memory.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("%w for a function's picture: %w", ErrMemory, err)
	}
	return fd, nil
}

// FinishCall says that the function is done, how long it kept a processor, and what went wrong with it, if anything
// did.
func (l *Loader) FinishCall(id int64, cpu time.Duration, reason string) {
	r := l.find(id)
	if r == nil { // the loader was closed meanwhile
		return
	}
	r.station.calls.Add(1)
	r.station.busy.Add(int64(time.Since(r.taken)))
	r.station.cpu.Add(int64(cpu))
	var err error
	if reason != "" {
		err = &FunctionError{Call: id, Reason: reason}
	}
	select {
	case r.done <- err:
	default: // it has been finished before
	}
}
