package loader

// #include "slab.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

const alignment = 64 // of images and labels: the widest vector, and what TensorFlow takes without a copy

// layout is where things lie in a slab.
type layout struct {
	image, label   int // bytes of one sample
	labels, size   int // offset of the labels, bytes in all
	samplesInBatch int
}

func newLayout(samples, image, label int) (layout, error) {
	const most = 1 << 46 // bytes; far above any memory, far below an overflow
	if image > most/samples || label > most/samples {
		return layout{}, errors.New("a batch is too large for memory")
	}
	labels := roundUp(C.sizeof_tgl_slab + samples*image)
	return layout{image: image, label: label, labels: labels, size: roundUp(labels + samples*label), samplesInBatch: samples}, nil
}

func roundUp(n int) int { return (n + alignment - 1) / alignment * alignment }

// slab is one batch's memory, shared with whoever holds a reference.
type slab struct {
	c      *C.tgl_slab
	layout *layout
}

func (s slab) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(s.c)), s.layout.size) }

func (s slab) image(slot int) []byte {
	return s.bytes()[C.sizeof_tgl_slab+slot*s.layout.image:][:s.layout.image]
}

func (s slab) label(slot int) []byte {
	return s.bytes()[s.layout.labels+slot*s.layout.label:][:s.layout.label]
}

func (s slab) describe(epoch, batch, tail int64, samples int) {
	s.c.epoch, s.c.batch, s.c.tail = C.int64_t(epoch), C.int64_t(batch), C.int64_t(tail)
	s.c.samples, s.c.labels = C.uint32_t(samples), C.uint64_t(s.layout.labels)
}

func (s slab) address() uintptr { return uintptr(unsafe.Pointer(s.c)) }

// release does nothing for the slab that there was no memory for.
func (s slab) release() {
	if s.c != nil {
		C.tgl_slab_release(s.c)
	}
}

// pool uses slabs again once nobody else holds them. It grows without a limit of its own, since a slab in the
// user's hands may come back only after the next batch; the loader limits how many it holds itself.
type pool struct {
	layout layout
	spare  int // how many unused slabs are kept

	mu    sync.Mutex
	slabs []slab // the pool owns one reference to each
}

func (p *pool) get() (slab, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var free []int
	for i, s := range p.slabs {
		if C.tgl_slab_references(s.c) == 1 {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		c := C.tgl_slab_new(C.uint64_t(p.layout.size))
		if c == nil {
			return slab{}, fmt.Errorf("%w for a batch", ErrMemory)
		}
		s := slab{c, &p.layout}
		C.tgl_slab_retain(c)
		p.slabs = append(p.slabs, s)
		return s, nil
	}
	taken := p.slabs[free[0]]
	C.tgl_slab_retain(taken.c)
	for len(free) > p.spare+1 {
		last := free[len(free)-1]
		p.slabs[last].release()
		p.slabs[last] = p.slabs[len(p.slabs)-1]
		p.slabs = p.slabs[:len(p.slabs)-1]
		free = free[:len(free)-1]
	}
	return taken, nil
}

// close lets go of every slab; those in the user's hands live on until they are released.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.slabs {
		s.release()
	}
	p.slabs = nil
}
