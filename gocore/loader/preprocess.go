package loader

import (
	"image"
	"sync"
	"time"

	"tfgoloader/gocore/source"
)

// Preprocessor makes single pictures as a loader's samples are made, in the callers' own threads. Its methods may be
// called from any goroutine.
type Preprocessor struct {
	loader *Loader // without workers and epochs

	mu     sync.Mutex
	idle   []*worker // as many as were in use at once
	closed bool
}

// InMemory is what stands for the path of a picture that has none.
const InMemory = "<bytes>"

// NewPreprocessor checks the specification, in which the policies for whole epochs count for nothing.
func NewPreprocessor(spec Spec) (*Preprocessor, error) {
	list, err := source.Paths([]string{InMemory}, nil)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(spec, list)
	if err != nil {
		return nil, err
	}
	if err := p.alone("Preprocess"); err != nil {
		return nil, err
	}
	return &Preprocessor{loader: &Loader{plan: p, list: list}}, nil
}

// Arrays are those of every slab.
func (p *Preprocessor) Arrays() []*Array { return p.loader.plan.layout.arrays }

// File makes the picture of a file; one reference to the slab is the caller's.
func (p *Preprocessor) File(path string) (uintptr, error) {
	return p.make(path, func(w *worker) (image.Point, error) { return w.open(w.decoder, path) })
}

// Bytes makes the picture that the content of a file holds, of which nothing is kept; one reference to the slab is the
// caller's.
func (p *Preprocessor) Bytes(content []byte) (uintptr, error) {
	return p.make(InMemory, func(w *worker) (image.Point, error) {
		w.file = append(w.file[:0], content...)
		return w.decoder.Open(w.file)
	})
}

func (p *Preprocessor) make(path string, open func(*worker) (image.Point, error)) (address uintptr, err error) {
	w, err := p.take()
	if err != nil {
		return 0, err
	}
	defer p.giveBack(w)
	slab, err := newSlab(p.loader.plan.layout)
	if err != nil {
		return 0, err
	}
	if err := w.single(slab, open); err != nil {
		slab.release()
		return 0, &SampleError{path, noSample, err}
	}
	slab.describe(0, 0, -1, 1)
	return slab.address(), nil
}

func (w *worker) single(slab slab, open func(*worker) (image.Point, error)) (err error) {
	defer recovered(&err)
	w.clock = time.Now()
	size, err := open(w)
	if err != nil {
		return err
	}
	return w.sample(subject{job: job{epoch: new(Epoch), batch: &batch{slab: slab}}, size: size})
}

func (p *Preprocessor) take() (*worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if last := len(p.idle) - 1; last >= 0 {
		w := p.idle[last]
		p.idle = p.idle[:last]
		return w, nil
	}
	return newWorker(p.loader, 0)
}

func (p *Preprocessor) giveBack(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		w.close()
	} else {
		p.idle = append(p.idle, w)
	}
}

// Close frees what is not in use; the rest goes as soon as it is given back.
func (p *Preprocessor) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		w.close()
	}
	p.idle = nil
	return nil
}
