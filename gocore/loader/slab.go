package loader

// #include "slab.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

const alignment = 64 // of every array: the widest vector, and what TensorFlow takes without a copy

// Array is one of the arrays of a slab. It has a row for every sample that fits in the batch.
type Array struct {
	Name   string `json:"name"`
	DType  string `json:"dtype"`  // by NumPy's name
	Shape  []int  `json:"shape"`  // of a row
	Offset int    `json:"offset"` // bytes from the start of the slab
	row    int    // bytes of a row
}

var itemBytes = map[string]int{"uint8": 1, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "float32": 4, "int64": 8}

// layout is where the arrays lie in each of a loader's slabs.
type layout struct {
	samples int
	arrays  []*Array
	size    int // bytes in all
}

func newLayout(samples int) *layout { return &layout{samples: samples, size: C.sizeof_tgl_slab} }

// add gives an array its place.
func (l *layout) add(name, dtype string, shape ...int) (*Array, error) {
	const most = 1 << 46 // bytes; far above any memory, far below an overflow
	tooLarge := configError(fmt.Sprintf("a batch of batch_size=%d is too large for memory", l.samples))
	row := itemBytes[dtype]
	for _, length := range shape {
		if length > most/max(1, row) {
			return nil, tooLarge
		}
		row *= length
	}
	if row > (most-l.size)/l.samples {
		return nil, tooLarge
	}
	array := &Array{Name: name, DType: dtype, Shape: append([]int{}, shape...), Offset: l.size, row: row}
	l.arrays = append(l.arrays, array)
	l.size = (l.size + l.samples*row + alignment - 1) / alignment * alignment
	return array, nil
}

// slab is one batch's memory, shared with whoever holds a reference.
type slab struct {
	c      *C.tgl_slab
	layout *layout
}

func (s slab) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(s.c)), s.layout.size) }

func (s slab) row(a *Array, slot int) []byte { return s.bytes()[a.Offset+slot*a.row:][:a.row] }

func (s slab) describe(epoch, batch, tail int64, samples int) {
	s.c.epoch, s.c.batch, s.c.tail, s.c.samples = C.int64_t(epoch), C.int64_t(batch), C.int64_t(tail), C.uint32_t(samples)
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
	layout *layout
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
		s := slab{c, p.layout}
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
