package pixel

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// golden is what a library made of goldenPicture.
type golden struct {
	name   string
	dtype  DType
	width  int // before
	height int
	x, y   Axis
	Resampling
	samples []byte // little-endian, channels last
}

// arrays reads an archive that testdata/make_goldens.py has written: the samples by the arrays' names, little-endian.
func arrays(t *testing.T, name string) map[string][]byte {
	archive, err := zip.OpenReader(fmt.Sprintf("testdata/%s.npz", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := archive.Close(); err != nil {
			t.Error(err)
		}
	}()
	all := map[string][]byte{}
	for _, file := range archive.File {
		reader, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		array, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		// Version 1 of NumPy's format: ten bytes, the last two of them the length of the header; then the samples.
		if !bytes.HasPrefix(array, []byte("\x93NUMPY\x01")) {
			t.Fatalf("%s: not an array", file.Name)
		}
		all[strings.TrimSuffix(file.Name, ".npy")] = array[10+binary.LittleEndian.Uint16(array[8:]):]
	}
	if len(all) == 0 {
		t.Fatalf("%s: nothing to compare with", name)
	}
	return all
}

// goldens returns what a library has made.
func goldens(t *testing.T, convention Convention) []golden {
	var all []golden
	for name, samples := range arrays(t, convention.String()) {
		g := golden{name: name, samples: samples}
		var dtype, interpolation string
		var antialias int
		var left, top, right, bottom float64
		if _, err := fmt.Sscan(name, &dtype, &interpolation, &antialias, &g.width, &g.height, &g.x.Output, &g.y.Output,
			&left, &top, &right, &bottom); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g.x.Input, g.x.Start, g.x.Length, g.x.Count = g.width, left, right-left, g.x.Output
		g.y.Input, g.y.Start, g.y.Length, g.y.Count = g.height, top, bottom-top, g.y.Output
		g.Resampling = Resampling{-1, antialias == 1, convention}
		for i := Nearest; i <= Lanczos5; i++ {
			if i.String() == interpolation {
				g.Interpolation = i
			}
		}
		size := 3 * g.x.Output * g.y.Output
		if dtype == "float32" {
			g.dtype = Float32
			size *= 4
		}
		if len(samples) != size {
			t.Fatalf("%s: %d bytes of samples, not %d", name, len(samples), size)
		}
		all = append(all, g)
	}
	return all
}

// goldenPicture is the one that make_goldens.py gives the libraries.
func goldenPicture(width, height int) Picture {
	pix := make([]byte, width*height*3)
	state := uint32(1)
	for i := range pix {
		state = state*1664525 + 1013904223
		pix[i] = byte(state >> 24)
		if pix[i]%8 == 0 {
			pix[i] = byte(int8(pix[i]) >> 7)
		}
	}
	return Picture{pix, width * 3, width, height, 3, false}
}

func TestResampleIsLikeTheLibraries(t *testing.T) {
	for convention := range has {
		for _, g := range goldens(t, Convention(convention)) {
			t.Run(fmt.Sprintf("%s/%s", g.Convention, g.name), func(t *testing.T) {
				w, err := NewWriter(3, g.dtype, ChannelsLast, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := resample(t, w, goldenPicture(g.width, g.height), g.x, g.y, g.Resampling, false, false)
				if g.dtype == Float32 {
					g.compareFloats(t, floats(got), floats(g.samples))
				} else {
					g.compareBytes(t, got)
				}
			})
		}
	}
}

// compareFloats wants 1e-4 of the value; where a kernel's negative weights let large terms cancel, of 10 at least.
func (g golden) compareFloats(t *testing.T, got, want []float64) {
	least := 0.0
	if g.Interpolation == Bicubic || g.Interpolation >= Lanczos3 {
		least = 10
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-4*max(least, math.Abs(want[i]))) {
			t.Errorf("sample %d is %g, not %g", i, got[i], want[i])
		}
	}
}

// compareBytes wants all within 1, and less than 0.02 on average.
func (g golden) compareBytes(t *testing.T, got []byte) {
	sum := 0
	for i, want := range g.samples {
		difference := max(int(got[i])-int(want), int(want)-int(got[i]))
		sum += difference
		if difference > 1 || difference > 0 && g.Interpolation == Nearest {
			t.Errorf("sample %d is %d, not %d", i, got[i], want)
		}
	}
	if mean := float64(sum) / float64(len(got)); mean >= 0.02 {
		t.Errorf("differs by %g on average", mean)
	}
}
