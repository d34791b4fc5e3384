package loader

import (
	"maps"
	"slices"
	"time"

	"tfgoloader/gocore/sample"
)

// Epoch is one pass over the samples. The loader's mutex guards it.
type Epoch struct {
	loader    *Loader
	number    int64
	order     *sample.Order
	handed    int64    // positions in the order that workers took
	tail      int64    // positions from here on are used up, or do not exist
	retries   []job    // places whose sample was bad, with the one that takes its place
	unmixed   []*batch // final ones that no worker is mixing yet
	mixing    int64    // final ones that are not mixed yet
	count     int64    // batches; less than promised where bad samples are left out
	settled   int64    // batches that are final
	taken     int64    // batches that the user took
	batches   map[int64]*batch
	cancelled bool          // gets no more work
	over      bool          // the user met its end
	ready     chan struct{} // a batch may be ready; a hint, so one slot is enough
}

// batch is being filled, or waits for the user.
type batch struct {
	number    int64
	slab      slab
	open      int             // samples that are not in their places yet
	working   int             // of these, samples that workers are at
	failures  []failure       // of places that are empty
	bad       []failure       // samples that were left out or replaced
	moved     map[int64]int64 // samples that took the place of bad ones, by their position in the order
	err       error           // takes the place of the batch
	mixing    bool            // it is final but for that
	discarded bool
}

// failure is what went wrong with a sample that was meant for a place.
type failure struct {
	slot int
	err  *SampleError
}

func bySlot(a, b failure) int { return a.slot - b.slot }

// job is one sample on its way into its place, or a whole batch to be mixed.
type job struct {
	epoch *Epoch
	batch *batch
	slot  int
	index int64 // in the source
	mix   bool
}

// result is how a job ended: what was met that is bad, and whether the place is filled all the same.
type result struct {
	bad    []*SampleError
	filled bool
}

func newEpoch(l *Loader, at Position) *Epoch {
	e := &Epoch{
		loader: l, number: at.Epoch, tail: at.Tail, count: l.plan.batches,
		handed: at.Batch * int64(l.plan.BatchSize), settled: at.Batch, taken: at.Batch,
		order:   sample.NewOrder(l.plan.available, l.plan.Shuffle, l.plan.Seed, at.Epoch),
		batches: map[int64]*batch{},
		ready:   make(chan struct{}, 1),
	}
	if at.Tail == -1 {
		e.tail = l.plan.available
	}
	e.settle() // bad samples of the batches before may have left nothing
	return e
}

// end is the position after the last one that goes into a batch.
func (e *Epoch) end() int64 { return min(e.tail, e.count*int64(e.loader.plan.BatchSize)) }

func (e *Epoch) handedOut() bool {
	// Where bad samples are left out, more may be needed until the last batch is final.
	return e.over || !e.cancelled && e.handed >= e.end() && (e.settled >= e.count || !e.loader.plan.skips())
}

// hand gives out a batch to be mixed, or the next sample, unless that would run too far ahead of the user.
func (e *Epoch) hand() (job, bool) {
	if len(e.unmixed) > 0 {
		b := e.unmixed[0]
		e.unmixed = e.unmixed[1:]
		b.working++
		return job{epoch: e, batch: b, mix: true}, true
	}
	if len(e.retries) > 0 {
		j := e.retries[0]
		e.retries = e.retries[1:]
		j.batch.working++
		return j, true
	}
	p := e.loader.plan
	size := int64(p.BatchSize)
	number, slot := e.handed/size, int(e.handed%size)
	if e.handed >= e.end() || number >= e.taken+p.window() {
		return job{}, false
	}
	b := e.batches[number]
	if b == nil {
		b = &batch{number: number, open: int(min(size, e.end()-number*size))}
		e.batches[number] = b
		var err error
		if b.slab, err = e.loader.pool.get(); err != nil {
			b.err = err
			e.handed += int64(b.open)
			b.open = 0
			e.settle()
			return job{}, false
		}
	}
	b.working++
	e.handed++
	return job{epoch: e, batch: b, slot: slot, index: e.loader.plan.index(e.order.At(e.handed - 1))}, true
}

// finish takes a sample back from its worker.
func (e *Epoch) finish(j job, r result) {
	e.loader.mu.Lock()
	defer e.loader.mu.Unlock()
	b := j.batch
	b.working--
	b.open--
	for i, err := range r.bad {
		if f := (failure{j.slot, err}); i == len(r.bad)-1 && !r.filled {
			b.failures = append(b.failures, f)
		} else {
			b.bad = append(b.bad, f)
		}
	}
	switch {
	case b.discarded && b.working == 0:
		b.slab.release()
	case !b.discarded && b.open == 0:
		e.settle()
	}
}

// mixed takes a batch back from the worker that mixed it.
func (e *Epoch) mixed(b *batch, err error) {
	e.loader.mu.Lock()
	defer e.loader.mu.Unlock()
	b.working--
	if b.discarded {
		b.slab.release()
		return
	}
	e.mixing--
	b.mixing, b.err = false, err
	e.signal()
}

// signal tells whoever waits for a batch.
func (e *Epoch) signal() {
	select {
	case e.ready <- struct{}{}:
	default:
	}
}

// samples is how many the batch holds as things are; 0 where it is not to be handed over.
func (e *Epoch) samples(number int64) int {
	p := e.loader.plan
	samples := min(int64(p.BatchSize), e.tail-number*int64(p.BatchSize))
	if samples < int64(p.BatchSize) && p.DropRemainder {
		return 0
	}
	return int(max(0, samples))
}

// settle makes batches final, strictly in order, so that what takes the place of a bad sample does not depend on
// which worker was quicker.
func (e *Epoch) settle() {
	for e.settled < e.count {
		if e.samples(e.settled) == 0 {
			e.count = e.settled
			break
		}
		b := e.batches[e.settled]
		if b == nil || b.open > 0 {
			break
		}
		if e.loader.plan.skips() {
			e.refill(b)
			if b.open > 0 {
				e.loader.work.Broadcast()
				break
			}
		} else if len(b.failures) > 0 {
			b.err = slices.MinFunc(b.failures, bySlot).err
			b.bad = append(b.bad, b.failures...)
		}
		slices.SortStableFunc(b.bad, bySlot)
		samples := e.samples(b.number)
		if samples == 0 {
			continue
		}
		if b.slab.c != nil {
			b.slab.describe(e.number, b.number, e.tail, samples)
		}
		if b.err == nil && e.loader.plan.completes(samples) {
			b.mixing = true
			e.mixing++
			e.unmixed = append(e.unmixed, b)
			e.loader.work.Broadcast()
		}
		e.settled++
	}
	e.signal()
}

// refill leaves bad samples out: each one's place is taken by the last sample of the epoch's order that is not in
// use, so that the batches stay full and the epoch ends sooner.
func (e *Epoch) refill(b *batch) {
	failures := b.failures
	b.failures = nil
	slices.SortFunc(failures, bySlot)
	size := int64(e.loader.plan.BatchSize)
	for _, f := range failures {
		if fatal(f.err) {
			b.err = f.err
			return
		}
		position := b.number*size + int64(f.slot)
		if position >= e.tail { // its sample is in use elsewhere by now, where it is judged
			continue
		}
		b.bad = append(b.bad, f)
		e.tail--
		index, ok := b.moved[e.tail]
		if !ok {
			index = e.loader.plan.index(e.order.At(e.tail))
		}
		if last := e.batches[e.tail/size]; last != nil && e.handed <= e.tail {
			last.open-- // its last place will not be handed out any more
		}
		if position < e.tail {
			if b.moved == nil {
				b.moved = map[int64]int64{}
			}
			b.moved[position] = index
			b.open++
			e.retries = append(e.retries, job{epoch: e, batch: b, slot: f.slot, index: index})
		}
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
	case e.cancelled:
		return 0, ErrEnd
	case e.taken == e.count:
		return 0, e.finishEpoch()
	case e.taken == e.settled || e.batches[e.taken].mixing:
		return 0, ErrPending
	}
	b := e.batches[e.taken]
	delete(e.batches, e.taken)
	e.taken++
	l.work.Broadcast()
	if err := l.report(b.bad); err != nil {
		b.slab.release()
		e.discard()
		l.remove(e)
		return 0, err
	}
	if b.err != nil {
		b.slab.release()
		return 0, b.err
	}
	l.counters.batches.Add(1)
	l.counters.taken.Add(int64(e.samples(b.number)))
	return b.slab.address(), nil
}

// finishEpoch reports what was bad in batches that the epoch was too short for, and forgets the epoch.
func (e *Epoch) finishEpoch() error {
	var bad []failure
	for _, number := range slices.Sorted(maps.Keys(e.batches)) {
		bad = append(bad, e.batches[number].bad...)
	}
	e.over = true
	e.discard()
	e.loader.remove(e)
	if err := e.loader.report(bad); err != nil {
		return err
	}
	return ErrEnd
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
	e.retries, e.unmixed = nil, nil
	for number, b := range e.batches {
		b.discarded = true
		if b.working == 0 {
			b.slab.release()
		}
		delete(e.batches, number)
	}
}
