package pixel

import (
	"bytes"
	"errors"
	"image"
	"testing"
)

// A frame is what Write makes of a picture that has the border already.
func TestFrameIsTheWrittenBorder(t *testing.T) {
	fill := Fill{FillConstant, [MaxChannels]float64{7, 200, 90, 255}}
	values := &Affine{Scale: []float64{0.5, 2, -1, 1}, Offset: []float64{1, 0, 3, -4}}
	input, border := image.Pt(7, 5), Border{Left: 2, Top: 3, Right: 1, Bottom: 0, Fill: fill}
	size := border.Size(input)
	at := image.Rectangle{image.Pt(2, 3), image.Pt(9, 8)}
	for _, channels := range []int{1, 3, 4} {
		src := Picture{Pix: make([]byte, channels*35), Stride: 7 * channels, Width: 7, Height: 5, Channels: channels}
		for i := range src.Pix {
			src.Pix[i] = byte(37 * i)
		}
		padded := Picture{Pix: make([]byte, channels*size.X*size.Y), Stride: size.X * channels, Width: size.X, Height: size.Y, Channels: channels}
		if err := border.Copy(padded.Pix, src, image.Point{}, input, image.Rectangle{Max: size}); err != nil {
			t.Fatal(err)
		}
		for _, dtype := range []DType{Uint8, Float32, Float16, BFloat16} {
			for _, layout := range []Layout{ChannelsLast, ChannelsFirst} {
				affine := &Affine{values.Scale[:channels], values.Offset[:channels]}
				if dtype == Uint8 {
					affine = nil
				}
				w, err := NewWriter(channels, dtype, layout, affine)
				if err != nil {
					t.Fatal(err)
				}
				want, inner := make([]byte, w.Bytes(size.X, size.Y)), make([]byte, w.Bytes(7, 5))
				got := bytes.Repeat([]byte{99}, len(want))
				err = errors.Join(w.Write(want, padded, false, false), w.Write(inner, src, false, false),
					w.Frame(new(Scratch), got, size, inner, at, fill))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d channels, dtype %v, layout %v: another picture, %v", channels, dtype, layout, err)
				}
				if err := w.Frame(new(Scratch), got, size, inner, at.Add(image.Pt(2, 0)), fill); !errors.Is(err, ErrSize) {
					t.Errorf("beyond the frame: %v", err)
				}
			}
		}
	}
}
