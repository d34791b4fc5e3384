package loader

// #include "call.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"

	"tfgoloader/gocore/augment"
	"tfgoloader/gocore/pixel"
)

// area is memory in which a sample lies for a function, which another process may see too. It belongs to a worker, and
// has no name in any file system, so nothing is left of it when its processes are gone.
type area struct {
	memory []byte
	shared
}

// shared is how others are told of memory.
type shared struct {
	fd     int
	number int // of an area, of those that there were in this place; 0 before the first. Of a slab, its address.
}

// reserve makes room; what was in the area is lost where it was too small.
func (a *area) reserve(size int) error {
	if size <= len(a.memory) {
		return nil
	}
	a.close()
	size += size / 4 // pictures differ a little, and every new area has to be mapped by everybody
	fd, err := unix.MemfdCreate("tfgoloader", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("%w for a picture: %w", ErrMemory, err)
	}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		a.memory, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		_ = unix.Close(fd) // the error that matters is there
		return fmt.Errorf("%w for a picture: %w", ErrMemory, err)
	}
	a.fd = fd
	a.number++
	return nil
}

// close leaves the memory to those who have mapped it.
func (a *area) close() {
	if a.memory == nil {
		return
	}
	_ = unix.Munmap(a.memory) // neither fails for what was made above
	_ = unix.Close(a.fd)
	a.memory = nil
}

// call is what the area begins with.
func (a *area) call() *C.tgl_call { return (*C.tgl_call)(unsafe.Pointer(unsafe.SliceData(a.memory))) }

// arrange divides the area among what a function is given of a sample, and what it makes.
func (a *area) arrange(s *subject, op *augment.External, channels, mostBoxes int) error {
	in := s.plan.Size()
	out := op.OutputSize(in)
	end := int(unsafe.Sizeof(C.tgl_call{}))
	place := func(size int) C.uint64_t {
		at := end
		end = (at + size + alignment - 1) / alignment * alignment
		return C.uint64_t(at)
	}
	sampleBytes := channels
	if op.Float {
		sampleBytes *= 4
	}
	c := C.tgl_call{
		seed: C.uint64_t(s.seed), epoch: C.int64_t(s.epoch.number), index: C.int64_t(s.index), label: C.int64_t(s.label),
		height: C.uint32_t(in.Y), width: C.uint32_t(in.X), channels: C.uint32_t(channels),
		output_height: C.uint32_t(out.Y), output_width: C.uint32_t(out.X),
		boxes: C.uint32_t(len(s.boxes)), most_boxes: C.uint32_t(mostBoxes),
	}
	if op.Float {
		c.is_float = 1
	}
	c.picture = place(in.X * in.Y * sampleBytes)
	c.output = c.picture
	if op.Height != 0 {
		c.output = place(out.X * out.Y * sampleBytes)
	}
	if s.mask.Pix != nil {
		c.mask = place(in.X * in.Y)
		c.output_mask = c.mask
		if op.Height != 0 {
			c.output_mask = place(out.X * out.Y)
		}
	}
	c.box_values, c.box_labels = place(32*mostBoxes), place(8*mostBoxes)
	if err := a.reserve(end); err != nil {
		return err
	}
	*a.call() = c
	return nil
}

func (a *area) pixels(at C.uint64_t, width, height C.uint32_t, channels int) pixel.Picture {
	stride := int(width) * channels
	return pixel.Picture{
		Pix: a.memory[at:][:stride*int(height)], Stride: stride, Width: int(width), Height: int(height), Channels: channels,
	}
}

// picture and mask are what a function is given; made and madeMask what it gives back. Pixels of floats are counted as
// bytes of so many channels.
func (a *area) picture(channels int) pixel.Picture {
	c := a.call()
	return a.pixels(c.picture, c.width, c.height, channels)
}

func (a *area) made(channels int) pixel.Picture {
	c := a.call()
	return a.pixels(c.output, c.output_width, c.output_height, channels)
}

func (a *area) mask() pixel.Picture {
	c := a.call()
	return a.pixels(c.mask, c.width, c.height, 1)
}

func (a *area) madeMask() pixel.Picture {
	c := a.call()
	return a.pixels(c.output_mask, c.output_width, c.output_height, 1)
}

// writeBoxes puts boxes, for a picture of the given size, into the area.
func (a *area) writeBoxes(boxes []box, arrays *boxArrays, size image.Point) {
	c := a.call()
	for i, b := range boxes {
		for n, value := range arrays.values(b, size) {
			binary.LittleEndian.PutUint64(a.memory[int(c.box_values)+32*i+8*n:], math.Float64bits(value))
		}
		binary.LittleEndian.PutUint64(a.memory[int(c.box_labels)+8*i:], uint64(b.label))
	}
}

// readBoxes takes them out again, as a function may have changed them.
func (a *area) readBoxes(into []box, arrays *boxArrays, size image.Point) ([]box, error) {
	c := a.call()
	if c.boxes > c.most_boxes {
		return into, fmt.Errorf("%w: %d boxes, there is room for %d", ErrFunction, c.boxes, c.most_boxes)
	}
	for i := range int(c.boxes) {
		var values [4]float64
		for n := range values {
			values[n] = math.Float64frombits(binary.LittleEndian.Uint64(a.memory[int(c.box_values)+32*i+8*n:]))
		}
		label := int64(binary.LittleEndian.Uint64(a.memory[int(c.box_labels)+8*i:]))
		corners := arrays.corners(values, size)
		width, height := corners[2]-corners[0], corners[3]-corners[1]
		if !(width >= 0 && height >= 0) || math.IsInf(width+height, 0) {
			return into, fmt.Errorf("%w: box %d, %v, is not finite or ends before it starts", ErrFunction, i, values)
		}
		edges := augment.Box{Left: corners[0], Top: corners[1], Right: corners[2], Bottom: corners[3]}
		into = append(into, box{edges, 1, label})
	}
	return into, nil
}
