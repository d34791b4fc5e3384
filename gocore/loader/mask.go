package loader

import (
	"errors"
	"fmt"
	"image"

	"tfgoloader/gocore/codec"
	"tfgoloader/gocore/pixel"
)

// ErrMask is a mask that does not fit its picture.
var ErrMask = errors.New("mask and picture differ in size")

// masksOf are the options of the decoder of masks, given those of the pictures' one.
func masksOf(pictures codec.Options) codec.Options {
	return codec.Options{MaxPixels: pictures.MaxPixels, Channels: 1, Depth: 8, Indices: true, Orient: pictures.Orient}
}

// readMask decodes the part of a mask that is needed, valid until the next call.
func (w *worker) readMask(path string, picture image.Point, needed image.Rectangle) (mask pixel.Picture, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("mask %s: %w", path, err)
		}
	}()
	size, err := w.open(w.masks, path)
	if err != nil {
		return mask, err
	}
	if size != picture {
		return mask, fmt.Errorf("%w: %d x %d (height x width), the picture has %d x %d", ErrMask, size.Y, size.X, picture.Y, picture.X)
	}
	if mask, err = w.masks.Read(needed); err == nil {
		w.lap(&w.loader.counters.decode)
	}
	return mask, err
}
