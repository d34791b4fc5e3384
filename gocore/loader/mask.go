package loader

import (
	"errors"
	"fmt"
	"image"

	"tfgoloader/gocore/augment"
	"tfgoloader/gocore/codec"
)

// ErrMask is a mask that does not fit its picture.
var ErrMask = errors.New("mask and picture differ in size")

// masksOf are the options of the decoder of masks, given those of the pictures' one.
func masksOf(pictures codec.Options) codec.Options {
	return codec.Options{MaxPixels: pictures.MaxPixels, Channels: 1, Depth: 8, Indices: true, Orient: pictures.Orient}
}

// writeMask fills a mask's place: the picture's geometry, on the mask.
func (w *worker) writeMask(place []byte, path string, picture image.Point, plan augment.Plan) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("mask %s: %w", path, err)
		}
	}()
	size, err := w.open(w.masks, path)
	if err != nil {
		return err
	}
	if size != picture {
		return fmt.Errorf("%w: %d x %d (height x width), the picture has %d x %d", ErrMask, size.Y, size.X, picture.Y, picture.X)
	}
	mask, err := w.masks.Read(plan.Decode)
	if err != nil {
		return err
	}
	w.lap(&w.loader.counters.decode)
	if err := plan.Write(place, mask, w.loader.plan.indices, &w.augment); err != nil {
		return err
	}
	w.lap(&w.loader.counters.augment)
	return nil
}
