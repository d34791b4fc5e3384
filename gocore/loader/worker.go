package loader

import (
	"fmt"
	"image"
	"runtime"
	"runtime/debug"
	"time"

	"tfgoloader/gocore/augment"
	"tfgoloader/gocore/codec"
	"tfgoloader/gocore/sample"
)

// worker carries one sample at a time from its file to its place in a batch.
type worker struct {
	loader  *Loader
	decoder *codec.Decoder
	file    []byte // used again for every file
	draw    sample.Draw
	augment augment.Work
}

func (w *worker) run() error {
	defer w.decoder.Close()
	for {
		job, ok := w.loader.take()
		if !ok {
			return nil
		}
		job.epoch.finish(job, w.work(job))
		runtime.Gosched() // or Go's monitor would wake up thousands of times a second to see why there was no pause
	}
}

// work fills the job's place with its sample, or with a substitute where that is the policy.
func (w *worker) work(j job) result {
	var r result
	chosen := j.index
	for attempt := 0; ; attempt++ {
		err := w.fill(j, chosen)
		if err == nil {
			r.filled = true
			return r
		}
		r.bad = append(r.bad, &SampleError{w.loader.list.Path(int(chosen)), chosen, err})
		p := w.loader.plan
		if !p.replaces() || fatal(err) || attempt == substitutes {
			return r
		}
		// Operations have the numbers from 0 on; those below are free.
		chosen = p.substitute(w.draw.Reset(p.Seed, j.epoch.number, j.index, -1-attempt))
	}
}

func (w *worker) fill(j job, index int64) (err error) {
	// A defect that one picture meets must not end the process.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, r, debug.Stack())
		}
	}()
	p, counters := w.loader.plan, &w.loader.counters
	clock := time.Now()
	lap := func() int64 {
		now := time.Now()
		passed := now.Sub(clock)
		clock = now
		return int64(passed)
	}
	if w.file, err = readFile(w.loader.list.Path(int(index)), w.file, p.fileLimit()); err != nil {
		return err
	}
	counters.bytes.Add(int64(len(w.file)))
	counters.read.Add(lap())

	size, err := w.decoder.Open(w.file)
	if err != nil {
		return err
	}
	plan, err := p.pipeline.Plan(size, &w.draw, p.Seed, j.epoch.number, index)
	if err != nil {
		return err
	}
	picture, err := w.decoder.Read(plan.Decode)
	if err != nil {
		return err
	}
	counters.decode.Add(lap())
	counters.stored.Add(int64(size.X) * int64(size.Y))
	counters.decoded.Add(w.decoded(size, plan.Decode))

	if err := plan.Write(j.batch.slab.image(j.slot), picture, p.writer, &w.augment); err != nil {
		return err
	}
	writeLabel(j.batch.slab.label(j.slot), w.loader.list.Label(int(index)), p.OneHot)
	counters.augment.Add(lap())
	counters.images.Add(1)
	return nil
}

// decoded is how many pixels a window takes: formats other than JPEG are decoded whole.
func (w *worker) decoded(size image.Point, window image.Rectangle) int64 {
	if w.decoder.Format() == "JPEG" {
		size = window.Size()
	}
	return int64(size.X) * int64(size.Y)
}
