package pixel

import (
	"fmt"
	"image"
)

// Frame writes a picture of the given size to dst, which has the constant everywhere but at a place, where inner lies, that
// the writer wrote before. The constant is in levels, to which values apply as to a picture's. Errors wrap ErrSize or
// ErrResampling.
func (w *Writer) Frame(scratch *Scratch, dst []byte, size image.Point, inner []byte, at image.Rectangle, fill Fill) error {
	if fill.Mode != FillConstant || size.X <= 0 || size.Y <= 0 || !at.In(image.Rectangle{Max: size}) ||
		len(dst) != w.Bytes(size.X, size.Y) || len(inner) != w.Bytes(at.Dx(), at.Dy()) {
		return fmt.Errorf("%w: %d bytes at %v of %v pixels in %d bytes, filled by mode %v", ErrSize, len(inner), at, size, len(dst), fill.Mode)
	}
	// A pixel that lies outside of a picture.
	unit := make([]byte, w.Bytes(1, 1))
	one := Picture{Pix: make([]byte, w.channels), Stride: w.channels, Width: 1, Height: 1, Channels: w.channels}
	outside := Warp{Matrix: Matrix{0: 1, 2: -8, 4: 1, 5: -8}, Input: image.Pt(1, 1), Interpolation: Nearest, Fill: fill}
	if err := w.Warp(scratch, unit, one, image.Point{}, outside, image.Rect(0, 0, 1, 1), false, false); err != nil {
		return err
	}
	planes := 1
	if w.layout == ChannelsFirst {
		planes = w.channels
	}
	step := len(unit) / planes
	for plane := range planes {
		out := dst[plane*size.X*size.Y*step:][:size.X*size.Y*step]
		for done := copy(out, unit[plane*step:][:step]); done < len(out); done *= 2 {
			copy(out[done:], out[:done])
		}
		row := at.Dx() * step
		for y := range at.Dy() {
			copy(out[((at.Min.Y+y)*size.X+at.Min.X)*step:], inner[(plane*at.Dy()+y)*row:][:row])
		}
	}
	return nil
}
