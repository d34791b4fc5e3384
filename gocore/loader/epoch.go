package loader

import (
	"time"

	"tfgoloader/gocore/sample"
)

// Epoch is one pass over the samples. The loader's mutex guards it.
type Epoch struct {
	loader    *Loader
	number    int64
	order     *sample.Order
	handed    int64 // samples that workers took
	taken     int64 // batches that the user took
	batches   map[int64]*batch
	cancelled bool
	ready     chan struct{} // a batch may be ready; a hint, so one slot is enough
}

// batch is being filled, or waits for the user.
type batch struct {
	slab      slab
	unhanded  int // samples that no worker took yet
	working   int // samples that workers are at
	failure   error
	failedAt  int // slot of failure: the first one counts, whichever worker was quicker
	discarded bool
}

func (b *batch) done() bool { return b.unhanded == 0 && b.working == 0 }

func (b *batch) fail(slot int, err error) {
	if b.failure == nil || slot < b.failedAt {
		b.failure, b.failedAt = err, slot
	}
}

// job is one sample on its way into its place.
type job struct {
	epoch *Epoch
	batch *batch
	slot  int
	index int64
}

func newEpoch(l *Loader, number int64) *Epoch {
	return &Epoch{
		loader: l, number: number,
		order:   sample.NewOrder(int64(l.list.Len()), l.plan.Shuffle, l.plan.Seed, number),
		batches: map[int64]*batch{},
		ready:   make(chan struct{}, 1),
	}
}

func (e *Epoch) handedOut() bool { return !e.cancelled && e.handed == e.loader.plan.samples }

func (e *Epoch) readyBatches() int {
	n := 0
	for _, b := range e.batches {
		if b.done() {
			n++
		}
	}
	return n
}

// hand gives out the next sample, unless that would run too far ahead of the user.
func (e *Epoch) hand() (job, bool) {
	p := e.loader.plan
	if e.handed == p.samples {
		return job{}, false
	}
	number, slot := e.handed/int64(p.BatchSize), int(e.handed%int64(p.BatchSize))
	if number >= e.taken+p.window() {
		return job{}, false
	}
	b := e.batches[number]
	if b == nil {
		b = &batch{unhanded: p.batchSamples(number)}
		e.batches[number] = b
		var err error
		if b.slab, err = e.loader.pool.get(); err != nil {
			b.fail(-1, err)
			e.handed += int64(b.unhanded)
			b.unhanded = 0
			e.announce()
			return job{}, false
		}
		b.slab.describe(e.number, number, b.unhanded)
	}
	b.unhanded--
	b.working++
	e.handed++
	return job{e, b, slot, e.order.At(e.handed - 1)}, true
}

// finish takes a sample back from its worker.
func (e *Epoch) finish(j job, err error) {
	e.loader.mu.Lock()
	defer e.loader.mu.Unlock()
	b := j.batch
	b.working--
	if err != nil {
		b.fail(j.slot, err)
	}
	switch {
	case b.discarded && b.working == 0:
		b.slab.release()
	case !b.discarded && b.done():
		e.announce()
	}
}

func (e *Epoch) announce() {
	select {
	case e.ready <- struct{}{}:
	default:
	}
}

// Next waits for the next batch, at most so long, and hands over a reference to its slab. ErrPending means that it
// may be called again, ErrEnd that the epoch is over. A SampleError takes the place of the batch that would have
// held the sample; the batch after it is not lost.
func (e *Epoch) Next(atMost time.Duration) (uintptr, error) {
	address, err := e.poll()
	if err != ErrPending {
		return address, err
	}
	start := time.Now()
	defer func() { e.loader.counters.wait.Add(int64(time.Since(start))) }()
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	for err == ErrPending {
		select {
		case <-e.ready:
		case <-e.loader.ctx.Done():
		case <-timer.C:
			return e.poll()
		}
		address, err = e.poll()
	}
	return address, err
}

func (e *Epoch) poll() (uintptr, error) {
	l := e.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ctx.Err() != nil:
		return 0, ErrClosed
	case e.cancelled || e.taken == l.plan.batches:
		return 0, ErrEnd
	}
	b := e.batches[e.taken]
	if b == nil || !b.done() {
		return 0, ErrPending
	}
	delete(e.batches, e.taken)
	e.taken++
	if e.taken == l.plan.batches {
		l.remove(e)
	}
	l.work.Broadcast()
	if b.failure != nil {
		b.slab.release()
		return 0, b.failure
	}
	l.counters.batches.Add(1)
	return b.slab.address(), nil
}

// Close gives up the rest of the epoch.
func (e *Epoch) Close() error {
	e.loader.mu.Lock()
	defer e.loader.mu.Unlock()
	e.discard()
	e.loader.remove(e)
	e.loader.work.Broadcast()
	return nil
}

// discard releases the batches, those that workers are at as soon as they are done.
func (e *Epoch) discard() {
	e.cancelled = true
	for number, b := range e.batches {
		b.discarded = true
		if b.working == 0 {
			b.slab.release()
		}
		delete(e.batches, number)
	}
}
