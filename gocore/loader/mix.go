package loader

import (
	"fmt"
	"time"

	"tfgoloader/gocore/augment"
	"tfgoloader/gocore/mix"
	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/source"
)

// whole is an operation on whole batches: one that mixes their samples, or a function of somebody else's.
type whole struct {
	mixture  mix.Operation
	external *augment.External
}

func (p *plan) parseBatchOps(list *source.List, dtype pixel.DType, layout pixel.Layout) error {
	p.pictures = mix.Pictures{
		DType: dtype, Size: p.pipeline.Size, Channels: p.Channels, Planar: layout == pixel.ChannelsFirst,
	}
	for place, spec := range p.BatchOps {
		external, err := augment.ParseWhole(spec, len(p.Ops)+place)
		op := whole{external: external}
		if err == nil && external == nil {
			op.mixture, err = mix.Parse(spec)
		}
		switch {
		case err != nil:
			return configError(fmt.Sprintf("batch_ops[%d]: %v", place, err))
		case external != nil && p.Views > 1:
			return configError(fmt.Sprintf("batch_ops[%d]: %s is for one view", place, external))
		case external == nil && (p.OneHot == nil || list.HasMasks() || list.HasBoxes()):
			return configError(fmt.Sprintf("batch_ops[%d]: %s mixes labels by OneHot, not masks or boxes", place, op.mixture))
		}
		p.wholes = append(p.wholes, op)
	}
	return nil
}

// completes tells whether something is left to do with a batch that is final.
func (p *plan) completes(samples int) bool {
	return len(p.wholes) > 0 || p.PadLast && samples < p.BatchSize
}

// mix does what there is to do with a batch that is final, and pads it. Random numbers are keyed by the batch's place in
// its epoch.
func (w *worker) mix(j job) (err error) {
	defer recovered(&err)
	w.clock = time.Now()
	defer w.lap(&w.loader.counters.augment)
	p, slab := w.loader.plan, j.batch.slab
	rows := func(a *Array) func(int) []byte { return func(slot int) []byte { return slab.row(a, slot) } }
	for place, op := range p.wholes {
		if op.external != nil {
			if err := w.changeWhole(slab, op.external.Position); err != nil {
				return &SampleError{fmt.Sprintf("batch %d of epoch %d", j.batch.number, j.epoch.number), noSample, err}
			}
			continue
		}
		random := w.draw.Reset(p.Seed, j.epoch.number, j.batch.number, mixture-place)
		shares := op.mixture.Draw(random, int(slab.c.samples), p.pictures.Size)
		for _, images := range p.images { // one label is of all views
			w.mixer.Pictures(shares, rows(images), p.pictures)
		}
		w.mixer.Labels(shares, rows(p.labels))
	}
	if p.PadLast {
		p.pad(slab)
	}
	return nil
}

// changeWhole has a function change a batch: where it lies, or, in a process, a copy of it in shared memory.
func (w *worker) changeWhole(slab slab, position int) error {
	station := w.loader.station(position)
	w.lap(&w.loader.counters.augment)
	defer func() { w.clock = time.Now() }() // the time in between is the station's
	if !station.op.Shared {
		return w.loader.visit(station, shared{fd: -1, number: int(slab.address())}, w)
	}
	area, batch := &w.areas[len(w.loader.plan.segments)], slab.bytes()
	if err := area.reserve(len(batch)); err != nil {
		return err
	}
	copy(area.memory, batch)
	if err := w.loader.visit(station, area.shared, w); err != nil {
		return err
	}
	header := slab.layout.arrays[0].Offset
	copy(batch[header:], area.memory[header:])
	return nil
}

// pad fills the places behind the last sample: with zeros, their weights among them, and -1 for what is an index or a
// box's label.
func (p *plan) pad(slab slab) {
	for _, a := range p.layout.arrays {
		rest := slab.bytes()[a.Offset+int(slab.c.samples)*a.row : a.Offset+p.BatchSize*a.row]
		if a.Name == "index" || a.Name == "box_labels" {
			for i := range rest {
				rest[i] = 0xff
			}
		} else {
			clear(rest)
		}
	}
	slab.setSamples(p.BatchSize)
}
