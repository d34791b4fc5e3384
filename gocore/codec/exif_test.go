package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

func TestOrientationOfEXIF(t *testing.T) {
	for orientation := range uint16(12) {
		want := Orientation(orientation)
		if orientation < 1 || orientation > 8 {
			want = Upright
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			block := exif(order, orientation)
			if got := exifOrientation(block); got != want {
				t.Errorf("%v %d: %d", order, orientation, got)
			}
			if got := exifOrientation(append([]byte(exifPrefix), block...)); got != want {
				t.Errorf("%v %d with its prefix: %d", order, orientation, got)
			}
		}
	}
}

func TestBrokenEXIFIsUpright(t *testing.T) {
	order := binary.LittleEndian
	block := exif(order, 6)
	changed := func(at int, value byte) []byte {
		b := bytes.Clone(block)
		b[at] = value
		return b
	}
	const secondEntry = 8 + 2 + 12
	for name, b := range map[string][]byte{
		"nothing":                nil,
		"a cut entry":            block[:secondEntry+11],
		"a cut directory":        block[:9],
		"another byte order":     changed(1, 'X'),
		"another magic number":   changed(2, 43),
		"a directory far beyond": changed(7, 0xFF),
		"no entries":             changed(8, 0),
		"text":                   changed(secondEntry+2, 2),
		"two values":             changed(secondEntry+4, 2),
		"no tag":                 changed(secondEntry, 0x13),
	} {
		if got := exifOrientation(b); got != Upright {
			t.Errorf("%s: %d", name, got)
		}
	}
	if got := exifOrientation(changed(secondEntry+2, 4)); got != 6 {
		t.Errorf("a long: %d", got)
	}
	many := append(order.AppendUint16([]byte("II*\x00\x08\x00\x00\x00"), math.MaxUint16), block[10:]...)
	if got := exifOrientation(many); got != 6 {
		t.Errorf("fewer entries than promised: %d", got)
	}
}

func TestJPEGSegments(t *testing.T) {
	wrapped := append([]byte(exifPrefix), exif(binary.BigEndian, 3)...)
	app1 := append([]byte{0xFF, 0xE1, 0, byte(len(wrapped) + 2)}, wrapped...)
	other := []byte("\xff\xe1\x00\x09http://")
	for name, c := range map[string]struct {
		parts [][]byte
		want  Orientation
	}{
		"first":               {[][]byte{app1}, 3},
		"after another":       {[][]byte{other, app1}, 3},
		"after fill bytes":    {[][]byte{{0xFF, 0xFF, 0xFF}, app1}, 3},
		"after stray bytes":   {[][]byte{{1, 2, 0xFF, 0}, app1}, 3},
		"after the scan":      {[][]byte{{0xFF, 0xDA, 0, 2}, app1}, 1},
		"cut":                 {[][]byte{app1[:20]}, 1},
		"after a broken one":  {[][]byte{{0xFF, 0xE0, 0, 1}, app1}, 1},
		"after a longer file": {[][]byte{{0xFF, 0xE0, 0xFF, 0xFF}, app1}, 1},
	} {
		data := append([]byte{0xFF, 0xD8}, bytes.Join(c.parts, nil)...)
		if got := exifOrientation(jpegExif(data)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
