package loader

// #include "native.h"
import "C"

import (
	"fmt"
	"image"
	"slices"
	"time"
	"unsafe"

	"tfgoloader/gocore/augment"
	"tfgoloader/gocore/codec"
	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/source"
)

// subject is a view of a sample on its way from the file to its place in the batch.
type subject struct {
	job
	index          int64 // in the source; not the job's where it is a substitute
	view           int
	seed           uint64
	size           image.Point   // of the picture
	plan, maskPlan augment.Plan  // up to the next function, or to the end
	picture        pixel.Picture // what of it the plan needs
	mask           pixel.Picture // has no pixels where there is none
	boxes          []box
	label          int64
}

// checkExternal checks what is not known to the list of operations.
func (p *plan) checkExternal(e *augment.External, list *source.List) error {
	switch {
	case e == nil:
		return nil
	case e.Float && (p.DType != "float32" || p.DataFormat != "channels_last"):
		return configError(fmt.Sprintf("ops[%d]: %s after Rescaling or Normalization needs dtype float32 and channels_last",
			e.Position, e))
	case e.Height != 0 && (list.HasMasks() && !e.Masks || list.HasBoxes() && !e.Boxes):
		return configError(fmt.Sprintf("ops[%d]: %s changes the size, so it has to change the masks and boxes too",
			e.Position, e))
	}
	if err := p.checkSize(image.Pt(e.Width, e.Height)); err != nil {
		return configError(fmt.Sprintf("ops[%d]: %v", e.Position, err))
	}
	return nil
}

// alone fails where the list of operations holds functions of the user's, which only a loader's workers can call.
func (p *plan) alone(what string) error {
	for _, segment := range p.segments {
		if segment.External != nil {
			return configError(fmt.Sprintf("ops: %s is not for lists with %s", what, segment.External))
		}
	}
	return nil
}

func (p *plan) checkSize(size image.Point) error {
	if int64(size.X)*int64(size.Y) > p.MaxPixels {
		return fmt.Errorf("the output of %d x %d pixels (height x width) is over max_pixels=%d", size.Y, size.X, p.MaxPixels)
	}
	return nil
}

// externals are the operations of somebody else's, in order.
func (p *plan) externals() []*augment.External {
	var all []*augment.External
	for _, segment := range p.segments {
		if segment.External != nil {
			all = append(all, segment.External)
		}
	}
	for _, whole := range p.wholes {
		if whole.external != nil {
			all = append(all, whole.external)
		}
	}
	return all
}

// hosted tells whether workers run in threads of the caller's.
func (p *plan) hosted() bool {
	return slices.ContainsFunc(p.externals(), func(e *augment.External) bool { return !e.Native() })
}

// crew is how many workers there are: enough for a function that is to be called more often at once, and as many more
// as wait for processes.
func (p *plan) crew() int {
	crew, waiting := p.Workers, 0
	for _, e := range p.externals() {
		switch {
		case !e.Shared:
			crew = max(crew, e.Workers)
		case e.Workers == 0:
			waiting += p.Workers
		default:
			waiting += e.Workers
		}
	}
	return crew + waiting
}

// mostBoxes is how many a function may be given, or give back.
func (p *plan) mostBoxes() int {
	if p.boxes == nil {
		return 0
	}
	return p.boxes.most
}

// through takes a sample, planned up to the first function, through all segments into the batch.
func (w *worker) through(s *subject) error {
	p := w.loader.plan
	for n, segment := range p.segments {
		if n > 0 {
			var err error
			if s.plan, err = segment.Plan(s.size, &w.draw, s.seed, s.epoch.number, s.index); err != nil {
				return err
			}
			s.picture = s.picture.Part(s.plan.Decode)
			if p.masks != nil {
				s.maskPlan = s.plan.Mask()
				s.mask = s.mask.Part(s.maskPlan.Decode)
			}
		}
		if p.boxes != nil {
			s.boxes = p.boxes.move(s.boxes, &s.plan)
		}
		if segment == p.pipeline {
			break
		}
		if err := w.visit(s, n); err != nil {
			return err
		}
	}
	return w.arrive(s)
}

// visit writes a sample into an area of the worker's, and has a station's function change it.
func (w *worker) visit(s *subject, place int) error {
	p, station, area := w.loader.plan, w.loader.stations[place], &w.areas[place]
	size := s.plan.Size()
	if err := p.checkSize(size); err != nil {
		return fmt.Errorf("%w: %w", codec.ErrTooLarge, err)
	}
	if err := area.arrange(s, station.op, p.Channels, p.mostBoxes()); err != nil {
		return err
	}
	if err := s.plan.Write(area.picture(p.Channels).Pix, s.picture, p.bytes, &w.augment); err != nil {
		return err
	}
	if p.masks != nil {
		if err := s.maskPlan.Write(area.mask().Pix, s.mask, p.indices, &w.augment); err != nil {
			return err
		}
	}
	if err := w.change(s, station, area, size); err != nil {
		return err
	}
	s.picture, s.size = area.made(p.Channels), station.op.OutputSize(size)
	if p.masks != nil {
		s.mask = area.madeMask()
	}
	return nil
}

// arrive writes a sample into the batch, where a last function may change it.
func (w *worker) arrive(s *subject) error {
	p := w.loader.plan
	row := s.batch.slab.row(p.images[s.view], s.slot)
	if err := s.plan.Write(row, s.picture, p.writer, &w.augment); err != nil {
		return err
	}
	var mask []byte
	if p.masks != nil {
		mask = s.batch.slab.row(p.masks, s.slot)
		if err := s.maskPlan.Write(mask, s.mask, p.indices, &w.augment); err != nil {
			return err
		}
	}
	if p.pipeline.External == nil {
		return nil
	}
	place := len(p.segments) - 1
	station, area := w.loader.stations[place], &w.areas[place]
	if err := area.arrange(s, station.op, p.Channels, p.mostBoxes()); err != nil {
		return err
	}
	copy(area.picture(4*p.Channels).Pix, row)
	if p.masks != nil {
		copy(area.mask().Pix, mask)
	}
	if err := w.change(s, station, area, p.pipeline.Size); err != nil {
		return err
	}
	copy(row, area.made(4*p.Channels).Pix)
	if p.masks != nil {
		copy(mask, area.madeMask().Pix)
	}
	return nil
}

// change calls the function, or has it called.
func (w *worker) change(s *subject, station *station, area *area, size image.Point) (err error) {
	p := w.loader.plan
	w.lap(&w.loader.counters.augment)
	defer func() { w.clock = time.Now() }() // the time in between is the station's
	if station.op.Native() {
		err = w.changeNative(s, station, area)
		station.calls.Add(1)
		station.busy.Add(int64(time.Since(w.clock)))
		return err
	}
	if p.boxes != nil {
		area.writeBoxes(s.boxes, p.boxes, size)
	}
	if err = w.loader.visit(station, area.shared, w); err != nil {
		return err
	}
	s.label = int64(area.call().label)
	if p.boxes == nil || !station.op.Boxes {
		return nil
	}
	s.boxes, err = area.readBoxes(s.boxes[:0], p.boxes, station.op.OutputSize(size))
	return err
}

func (w *worker) changeNative(s *subject, station *station, area *area) error {
	c, op := area.call(), station.op
	at := func(place C.uint64_t) unsafe.Pointer { return unsafe.Pointer(&area.memory[place]) }
	seed := C.uint64_t(w.draw.Reset(s.seed, s.epoch.number, s.index, op.Position).Uint64())
	sampleBytes := C.int64_t(c.channels)
	if op.Float {
		sampleBytes *= 4
	}
	height, width, channels := C.int64_t(c.height), C.int64_t(c.width), C.int64_t(c.channels)
	var code C.int32_t
	if op.Height == 0 {
		code = C.tgl_native_change(C.uint64_t(op.Function), at(c.picture), height, width, channels, width*sampleBytes, seed,
			C.uint64_t(op.UserData))
	} else {
		outHeight, outWidth := C.int64_t(c.output_height), C.int64_t(c.output_width)
		code = C.tgl_native_make(C.uint64_t(op.Function), at(c.picture), height, width, channels, width*sampleBytes,
			at(c.output), outHeight, outWidth, outWidth*sampleBytes, seed, C.uint64_t(op.UserData))
	}
	if code != 0 {
		return fmt.Errorf("%w: %s returned %d", ErrFunction, op.Name, code)
	}
	return nil
}
