package loader

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"tfgoloader/gocore/augment"
	"tfgoloader/gocore/codec"
	"tfgoloader/gocore/mix"
	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// worker carries one sample at a time from its file to its place in a batch.
type worker struct {
	loader  *Loader
	decoder *codec.Decoder
	masks   *codec.Decoder // nil where there are none
	file    []byte         // used again for every file
	draw    sample.Draw
	augment augment.Work
	mixer   mix.Mixer
	plans   []augment.Plan // of a sample's views
	copy    []byte
	clock   time.Time
}

func newWorker(l *Loader) (*worker, error) {
	decoder, err := codec.NewDecoder(l.plan.codec)
	if err != nil {
		return nil, err
	}
	w := &worker{loader: l, decoder: decoder}
	if l.plan.masks != nil {
		if w.masks, err = codec.NewDecoder(masksOf(l.plan.codec)); err != nil {
			decoder.Close()
			return nil, err
		}
	}
	return w, nil
}

func (w *worker) close() {
	w.decoder.Close()
	if w.masks != nil {
		w.masks.Close()
	}
}

func (w *worker) run() error {
	defer w.close()
	for {
		job, ok := w.loader.take()
		if !ok {
			return nil
		}
		if job.mix {
			job.epoch.mixed(job.batch, w.mix(job))
		} else {
			job.epoch.finish(job, w.work(job))
		}
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
		chosen = p.substitute(w.draw.Reset(p.Seed, j.epoch.number, j.index, substitution-attempt))
	}
}

// recovered makes an error of a panic: a defect that one picture meets must not end the process.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v\n%s", ErrPanic, r, debug.Stack())
	}
}

// lap adds the time since the last one to a counter.
func (w *worker) lap(counter *atomic.Int64) {
	now := time.Now()
	counter.Add(int64(now.Sub(w.clock)))
	w.clock = now
}

// open reads a file and its picture's header.
func (w *worker) open(decoder *codec.Decoder, path string) (size image.Point, err error) {
	counters := &w.loader.counters
	if w.file, err = readFile(path, w.file, w.loader.plan.fileLimit()); err != nil {
		return size, err
	}
	counters.bytes.Add(int64(len(w.file)))
	w.lap(&counters.read)
	return decoder.Open(w.file)
}

// copied gives a copy of a picture, valid until the next call.
func (w *worker) copied(p pixel.Picture) pixel.Picture {
	w.copy = append(w.copy[:0], p.Pix...)
	p.Pix = w.copy
	return p
}

func (w *worker) fill(j job, index int64) (err error) {
	defer recovered(&err)
	p, counters, list, slab := w.loader.plan, &w.loader.counters, w.loader.list, j.batch.slab
	w.clock = time.Now()
	size, err := w.open(w.decoder, list.Path(int(index)))
	if err != nil {
		return err
	}
	if err := w.images(slab, j.slot, size, j.epoch.number, index); err != nil {
		return err
	}
	if p.labels != nil {
		writeLabel(slab.row(p.labels, j.slot), list.Label(int(index)), p.OneHot)
	}
	if p.boxes != nil {
		boxes, labels := list.Boxes(int(index))
		p.boxes.write(slab, j.slot, boxes, labels, &w.plans[0], size, p.pipeline.Size)
	}
	if p.weights != nil {
		binary.LittleEndian.PutUint32(slab.row(p.weights, j.slot), math.Float32bits(1))
	}
	if p.meta != nil {
		p.meta.write(slab, j.slot, index, size, w.plans)
	}
	w.lap(&counters.augment)
	if p.masks != nil {
		if err := w.writeMask(slab.row(p.masks, j.slot), list.Mask(int(index)), size, w.plans[0].Mask()); err != nil {
			return err
		}
	}
	counters.images.Add(1)
	return nil
}

// images draws for all views of the picture that is open, and decodes and writes them.
func (w *worker) images(slab slab, slot int, size image.Point, epoch, index int64) error {
	p := w.loader.plan
	var needed image.Rectangle
	w.plans = w.plans[:0]
	for _, seed := range p.seeds {
		plan, err := p.pipeline.Plan(size, &w.draw, seed, epoch, index)
		if err != nil {
			return err
		}
		w.plans = append(w.plans, plan)
		needed = needed.Union(plan.Decode)
	}
	picture, err := w.decoder.Read(needed)
	if err != nil {
		return err
	}
	counters := &w.loader.counters
	w.lap(&counters.decode)
	counters.stored.Add(int64(size.X) * int64(size.Y))
	counters.decoded.Add(w.decoded(size, needed))
	for view := range w.plans {
		plan := &w.plans[view]
		part := picture.Part(plan.Decode.Sub(needed.Min))
		if view < len(w.plans)-1 { // the views after it need the pixels as they are
			part = w.copied(part)
		}
		if err := plan.Write(slab.row(p.images[view], slot), part, p.writer, &w.augment); err != nil {
			return err
		}
	}
	return nil
}

// decoded is how many pixels a window takes: formats other than JPEG are decoded whole.
func (w *worker) decoded(size image.Point, window image.Rectangle) int64 {
	if w.decoder.Format() == "JPEG" {
		size = window.Size()
	}
	return int64(size.X) * int64(size.Y)
}
