package loader

import (
	"fmt"
	"image"
	"slices"

	"tfgoloader/gocore/augment"
)

// Replay is a sample made again, with what it was made of. Its slab holds, beside the arrays of a batch, the whole
// picture as it was decoded; one reference to it is the caller's.
type Replay struct {
	Slab        uintptr      `json:"slab"`
	Path        string       `json:"path"`
	Format      string       `json:"format"`
	Orientation int          `json:"orientation"` // as EXIF counts
	Warnings    int          `json:"warnings"`    // of the picture's decoder
	Size        [2]int       `json:"original_size"`
	Before      *Array       `json:"before"`
	Views       []ReplayView `json:"views"`
}

// ReplayView is what was drawn for one view.
type ReplayView struct {
	Window [4]int          `json:"window"`
	Flip   [2]bool         `json:"flip"`
	Ops    []*augment.Step `json:"ops"`
}

// Replay makes the sample with an index in the source as an epoch does, without running one. Batches are not mixed.
func (l *Loader) Replay(epoch, index int64) (r *Replay, err error) {
	defer recovered(&err)
	if l.ctx.Err() != nil {
		return nil, ErrClosed
	}
	if epoch < 0 || index < 0 || index >= int64(l.list.Len()) {
		return nil, configError(fmt.Sprintf("epoch=%d is at least 0, index=%d from 0 to %d", epoch, index, l.list.Len()-1))
	}
	if err := l.plan.alone("replay"); err != nil {
		return nil, err
	}
	w, err := newWorker(&Loader{plan: l.plan, list: l.list}, 0) // which counts for itself
	if err != nil {
		return nil, err
	}
	defer w.close()
	path := l.list.Path(int(index))
	if r, err = w.replay(path, epoch, index); err != nil {
		return nil, &SampleError{path, index, err}
	}
	return r, nil
}

func (w *worker) replay(path string, epoch, index int64) (*Replay, error) {
	size, err := w.open(w.decoder, path)
	if err != nil {
		return nil, err
	}
	p := w.loader.plan
	whole := *p.layout
	whole.samples, whole.arrays = 1, slices.Clone(whole.arrays)
	dtype := "uint8"
	if p.codec.Depth == 16 {
		dtype = "uint16"
	}
	before, err := whole.add("before", dtype, size.Y, size.X, p.Channels)
	if err != nil {
		return nil, err
	}
	slab, err := newSlab(&whole)
	if err != nil {
		return nil, err
	}
	slab.describe(epoch, 0, -1, 1)
	r := &Replay{
		Slab: slab.address(), Path: path, Format: w.decoder.Format(), Orientation: int(w.decoder.Orientation()),
		Size: [2]int{size.Y, size.X}, Before: before,
	}
	if err := w.remake(r, slab, size, epoch, index); err != nil {
		slab.release()
		return nil, err
	}
	return r, nil
}

// remake reads the whole picture that is open, and then makes the sample.
func (w *worker) remake(r *Replay, slab slab, size image.Point, epoch, index int64) error {
	p := w.loader.plan
	picture, err := w.decoder.Read(image.Rectangle{Max: size})
	if err != nil {
		return err
	}
	r.Warnings = w.decoder.Warnings()
	row := slab.row(r.Before, 0)
	for y := range size.Y {
		length := size.X * picture.PixelBytes()
		copy(row[y*length:], picture.Pix[y*picture.Stride:][:length])
	}
	if err := w.fill(job{epoch: &Epoch{number: epoch}, batch: &batch{slab: slab}, index: index}, index); err != nil {
		return err
	}
	for view, seed := range p.seeds {
		steps, err := p.pipeline.Trace(size, seed, epoch, index)
		if err != nil {
			return err
		}
		plan := &w.plans[view]
		shown := plan.Shown()
		r.Views = append(r.Views, ReplayView{
			Window: [4]int{shown.Min.Y, shown.Min.X, shown.Dy(), shown.Dx()}, Flip: [2]bool{plan.FlipX, plan.FlipY}, Ops: steps,
		})
	}
	return nil
}
