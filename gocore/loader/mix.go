package loader

import (
	"fmt"
	"time"

	"tfgoloader/gocore/mix"
	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/source"
)

func (p *plan) parseBatchOps(list *source.List, dtype pixel.DType, layout pixel.Layout) error {
	if len(p.BatchOps) > 0 && (p.OneHot == nil || list.HasMasks() || list.HasBoxes()) {
		return configError("operations on batches mix labels by OneHot, not masks or boxes")
	}
	p.pictures = mix.Pictures{
		DType: dtype, Size: p.pipeline.Size, Channels: p.Channels, Planar: layout == pixel.ChannelsFirst,
	}
	for place, spec := range p.BatchOps {
		op, err := mix.Parse(spec)
		if err != nil {
			return configError(fmt.Sprintf("batch_ops[%d]: %v", place, err))
		}
		p.mixtures = append(p.mixtures, op)
	}
	return nil
}

// completes tells whether something is left to do with a batch that is final.
func (p *plan) completes(samples int) bool {
	return len(p.mixtures) > 0 || p.PadLast && samples < p.BatchSize
}

// mix mixes a batch that is final, and pads it. The random numbers are keyed by the batch's place in its epoch.
func (w *worker) mix(j job) (err error) {
	defer recovered(&err)
	start := time.Now()
	defer func() { w.loader.counters.augment.Add(int64(time.Since(start))) }()
	p, slab := w.loader.plan, j.batch.slab
	rows := func(a *Array) func(int) []byte { return func(slot int) []byte { return slab.row(a, slot) } }
	for place, op := range p.mixtures {
		random := w.draw.Reset(p.Seed, j.epoch.number, j.batch.number, mixture-place)
		shares := op.Draw(random, int(slab.c.samples), p.pictures.Size)
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
