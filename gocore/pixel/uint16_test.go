package pixel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

func TestWideSamplesAreMovedWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, channels := range []int{1, 3, 4} {
		for _, layout := range []Layout{ChannelsLast, ChannelsFirst} {
			w, err := NewWriter(channels, Uint16, layout, nil)
			if err != nil {
				t.Fatal(err)
			}
			const width, height = 7, 5
			const stride = 2*width*4 + 6
			src := Picture{randomBytes(random, stride*height), stride, width, height, channels, true}
			for _, flip := range flips {
				dst := make([]byte, w.Bytes(width, height))
				if err := w.Write(dst, src, flip[0], flip[1]); err != nil {
					t.Fatal(err)
				}
				for i := range len(dst) / 2 {
					x, y, c := i/channels%width, i/channels/width, i%channels
					if layout == ChannelsFirst {
						x, y, c = i%width, i/width%height, i/width/height
					}
					if flip[0] {
						x = width - 1 - x
					}
					if flip[1] {
						y = height - 1 - y
					}
					want := binary.NativeEndian.Uint16(src.Pix[y*stride+2*(x*channels+c):])
					if got := binary.NativeEndian.Uint16(dst[2*i:]); got != want {
						t.Fatalf("%d channels, layout %d, flips %v: sample %d is %d, want %d", channels, layout, flip, i, got, want)
					}
				}
			}
		}
	}
}

func TestWideAndNarrowAreNotMixed(t *testing.T) {
	wide := Picture{bytes.Repeat([]byte{1}, 2*3*4), 6, 1, 4, 3, true}
	narrow := Picture{wide.Pix, 3, 1, 4, 3, false}
	for dtype, src := range map[DType]Picture{Uint8: wide, Float32: wide, Uint16: narrow} {
		w, err := NewWriter(3, dtype, ChannelsLast, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(make([]byte, w.Bytes(1, 4)), src, false, false); !errors.Is(err, ErrSize) {
			t.Errorf("dtype %d: %v", dtype, err)
		}
	}
	if _, err := NewWriter(1, Uint16, ChannelsLast, &Affine{[]float64{1}, []float64{0}}); !errors.Is(err, ErrWriter) {
		t.Errorf("scaled uint16: %v", err)
	}
}
