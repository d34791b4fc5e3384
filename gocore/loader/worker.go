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
	plans   []augment.Plan                // of a sample's views
	boxes   []box                         // of a sample
	areas   []area                        // where pictures lie that functions are given, segment by segment, and then batches
	number  int                           // among the loader's workers
	call    func(position int, call Call) // calls a function, where the worker is hosted
	copy    []byte
	clock   time.Time
}

func newWorker(l *Loader, number int) (*worker, error) {
	decoder, err := codec.NewDecoder(l.plan.codec)
	if err != nil {
		return nil, err
	}
	w := &worker{loader: l, decoder: decoder, areas: make([]area, len(l.plan.segments)+1), number: number}
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
	for i := range w.areas {
		w.areas[i].close()
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
	if err := w.sample(subject{job: j, index: index, size: size}); err != nil {
		return err
	}
	if p.weights != nil {
		binary.LittleEndian.PutUint32(slab.row(p.weights, j.slot), math.Float32bits(1))
	}
	if p.meta != nil {
		p.meta.write(slab, j.slot, index, size, w.plans)
	}
	w.lap(&counters.augment)
	counters.images.Add(1)
	return nil
}

// sample draws for all views of the picture that is open, decodes it, and writes the views and the targets.
func (w *worker) sample(s subject) error {
	p, counters, list, slab := w.loader.plan, &w.loader.counters, w.loader.list, s.batch.slab
	size := s.size
	var needed image.Rectangle
	w.plans = w.plans[:0]
	for _, seed := range p.seeds {
		plan, err := p.segments[0].Plan(size, &w.draw, seed, s.epoch.number, s.index)
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
	w.lap(&counters.decode)
	counters.stored.Add(int64(size.X) * int64(size.Y))
	counters.decoded.Add(w.decoded(size, needed))
	if p.labels != nil {
		s.label = list.Label(int(s.index))
	}
	if p.masks != nil {
		s.maskPlan = w.plans[0].Mask()
		if s.mask, err = w.readMask(list.Mask(int(s.index)), size, s.maskPlan.Decode); err != nil {
			return err
		}
	}
	if p.boxes != nil {
		boxes, labels := list.Boxes(int(s.index))
		s.boxes = p.boxes.read(w.boxes[:0], boxes, labels, size)
	}
	for view := range w.plans {
		s := s
		s.view, s.seed, s.plan = view, p.seeds[view], w.plans[view]
		s.picture = picture.Part(s.plan.Decode.Sub(needed.Min))
		if view < len(w.plans)-1 { // the views after it need the pixels as they are
			s.picture = w.copied(s.picture)
		}
		if err := w.through(&s); err != nil {
			return err
		}
		if view > 0 {
			continue
		}
		if p.labels != nil {
			if err := writeLabel(slab.row(p.labels, s.slot), s.label, p.OneHot); err != nil {
				return err
			}
		}
		if p.boxes != nil {
			p.boxes.write(slab, s.slot, s.boxes, p.pipeline.Size)
			w.boxes = s.boxes
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
