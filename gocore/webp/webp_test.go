package webp

import (
	"bytes"
	"errors"
	"image"
	"os"
	"testing"

	xwebp "golang.org/x/image/webp"
)

// file is a still picture of 23 x 17.
func file(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../tests/cases/files/webp_named.jpg")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestHeaderAndPixels(t *testing.T) {
	var d Decoder
	header, err := d.Open(file(t))
	if err != nil || header.Width != 23 || header.Height != 17 || header.Alpha || header.Exif != nil {
		t.Fatalf("%+v, %v", header, err)
	}
	reference, err := xwebp.Decode(bytes.NewReader(file(t)))
	if err != nil {
		t.Fatal(err)
	}
	if _, lossless := reference.(*image.NRGBA); !lossless {
		t.Fatalf("%T: lossy pictures differ from decoder to decoder", reference)
	}
	for channels := 3; channels <= 4; channels++ {
		pix, err := d.Read(channels)
		if err != nil || len(pix) != 23*17*channels {
			t.Fatalf("%d bytes, %v", len(pix), err)
		}
		for i := range 23 * 17 {
			r, g, b, a := reference.At(i%23, i/23).RGBA()
			want := []byte{byte(r >> 8), byte(g >> 8), byte(b >> 8), byte(a >> 8)}
			if !bytes.Equal(pix[i*channels:][:channels], want[:channels]) {
				t.Fatalf("pixel %d is %v, want %v", i, pix[i*channels:][:channels], want)
			}
		}
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	var d Decoder
	if _, err := d.Read(3); !errors.Is(err, ErrMisuse) {
		t.Errorf("read before open: %v", err)
	}
	data := file(t)
	for _, keep := range []int{0, 1, 12, 20, len(data) / 2, len(data) - 1} {
		_, err := d.Open(data[:keep])
		if err == nil {
			_, err = d.Read(3)
		}
		if !errors.Is(err, ErrTruncated) {
			t.Errorf("%d of %d bytes: %v", keep, len(data), err)
		}
	}
	spoiled := bytes.Clone(data)
	copy(spoiled[12:], "VP8?")
	if _, err := d.Open(spoiled); !errors.Is(err, ErrCorrupt) {
		t.Errorf("an unknown bitstream: %v", err)
	}
	if _, err := d.Open(data); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read(1); !errors.Is(err, ErrMisuse) {
		t.Errorf("one channel: %v", err)
	}
}
