// Package loader runs the job: workers read, decode and augment samples into the batches of an epoch, a bounded
// number of them ahead of the user, and go on into the next epoch while the user does something else.
package loader

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"tfgoloader/gocore/source"
)

// Loader owns its workers and their memory until Close. Its methods may be called from any goroutine.
type Loader struct {
	plan     *plan
	list     *source.List
	pool     *pool
	counters counters
	stations []*station // of operations of somebody else's, in order
	calls    calls      // of Python functions, under way

	ctx    context.Context // done when the loader is closed
	cancel context.CancelFunc
	group  errgroup.Group
	hosts  chan *worker // that wait for a thread of the caller's

	mu     sync.Mutex
	work   *sync.Cond // there may be work for a worker
	epochs []*Epoch   // neither over nor cancelled, oldest first
	latest *Epoch     // the last one that the user began
	ahead  *Epoch     // prepared for the user's next Begin
	next   int64      // number of the next new epoch, the prepared one being an old one
	bad    map[int64]*SampleError
}

// New checks the specification and starts the workers.
func New(list *source.List, spec Spec) (*Loader, error) {
	p, err := newPlan(spec, list)
	if err != nil {
		return nil, err
	}
	l := &Loader{plan: p, list: list, pool: &pool{layout: p.layout, spare: spec.Prefetch + 2}, bad: map[int64]*SampleError{}}
	l.work = sync.NewCond(&l.mu)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	for _, e := range p.externals() {
		l.stations = append(l.stations, newStation(e, spec.Workers))
	}
	workers := make([]*worker, p.crew())
	for i := range workers {
		if workers[i], err = newWorker(l, i); err != nil {
			for _, w := range workers[:i] {
				w.close()
			}
			l.cancel()
			return nil, err
		}
	}
	// With a turn to spare for the user's calls, Go's monitor leaves a worker its turn while it is in C.
	turns := spec.Workers + 1
	if p.hosted() {
		turns = len(workers) + 1
		l.hosts = make(chan *worker, len(workers))
	}
	if runtime.GOMAXPROCS(0) < turns {
		runtime.GOMAXPROCS(turns)
	}
	context.AfterFunc(l.ctx, l.wake)
	for _, w := range workers {
		if l.hosts != nil {
			l.hosts <- w
		} else {
			l.group.Go(w.run)
		}
	}
	return l, nil
}

// Arrays are those of every batch.
func (l *Loader) Arrays() []*Array { return l.plan.layout.arrays }

func (l *Loader) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.work.Broadcast()
}

// Begin starts an epoch at a position, or hands over the one that was prepared, if it is that. The epochs after it
// follow from there.
func (l *Loader) Begin(at Position) (*Epoch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return nil, ErrClosed
	}
	epoch := l.ahead
	if at != NextEpoch {
		if err := l.plan.check(at); err != nil {
			return nil, err
		}
		if epoch != nil && at != (Position{epoch.number, 0, -1}) {
			epoch.discard()
			l.remove(epoch)
			epoch = nil
		}
	} else {
		at.Epoch = l.next
	}
	if epoch == nil {
		epoch = l.addEpoch(at)
	}
	l.latest, l.ahead = epoch, nil
	l.work.Broadcast()
	return epoch, nil
}

func (l *Loader) addEpoch(at Position) *Epoch {
	epoch := newEpoch(l, at)
	l.next = at.Epoch + 1
	l.epochs = append(l.epochs, epoch)
	return epoch
}

// take waits for work; false means that the loader is closed.
func (l *Loader) take() (job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if l.ctx.Err() != nil {
			return job{}, false
		}
		for _, epoch := range l.epochs {
			if j, ok := epoch.hand(); ok {
				return j, true
			}
		}
		if l.ahead == nil && l.latest != nil && l.latest.handedOut() {
			l.ahead = l.addEpoch(Position{l.next, 0, -1})
			l.work.Broadcast()
			continue
		}
		l.work.Wait()
	}
}

// remove forgets an epoch that needs no more work.
func (l *Loader) remove(epoch *Epoch) {
	for i, e := range l.epochs {
		if e == epoch {
			l.epochs = append(l.epochs[:i], l.epochs[i+1:]...)
			return
		}
	}
}

// Close stops the workers, each after its present sample, and lets go of all memory that is not in the user's
// hands. It may be called again. Workers that are hosted end a little later, in their threads.
func (l *Loader) Close() error {
	l.cancel()
	err := l.group.Wait()
	for range cap(l.hosts) {
		select {
		case w := <-l.hosts:
			w.close()
		default: // it is hosted
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, epoch := range l.epochs {
		epoch.discard()
	}
	l.epochs, l.ahead = nil, nil
	l.pool.close()
	return err
}
