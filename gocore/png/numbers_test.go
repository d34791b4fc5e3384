package png

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
)

// stored is the number that a sample has in the file, by the standard library's picture of it.
func stored(picture image.Image, k kind, x, y int) uint8 {
	if p, paletted := picture.(*image.Paletted); paletted {
		return p.ColorIndexAt(x, y)
	}
	gray := picture.At(x, y)
	value := uint8(0)
	switch c := gray.(type) {
	case color.Gray:
		value = c.Y
	case color.NRGBA: // one value is transparent
		value = c.R
	}
	return value / uint8(255/(1<<k.bits-1))
}

func TestNumbersAreAsTheStandardLibraryHasThem(t *testing.T) {
	d, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	random := rand.New(rand.NewPCG(8, 9))
	for _, k := range kinds() {
		t.Run(fmt.Sprintf("%+v", k), func(t *testing.T) {
			for _, size := range []image.Point{{1, 1}, {5, 4}, {23, 17}, {70, 2}} {
				data := k.noise(random, size.X, size.Y)
				header, err := d.Open(data)
				if err != nil {
					t.Fatal(err)
				}
				if has := k.colorType == indexed || k.colorType == gray && k.bits <= 8; header.Numbers != has {
					t.Fatalf("numbers: %t, want %t", header.Numbers, has)
				}
				window := image.Rect(size.X/3, size.Y/3, size.X, size.Y)
				pix, err := d.Read(window, Form{1, false})
				if !header.Numbers {
					if !errors.Is(err, ErrMisuse) {
						t.Fatalf("got %v, want %v", err, ErrMisuse)
					}
					continue
				}
				if err != nil || len(pix) != window.Dx()*window.Dy() {
					t.Fatalf("%d bytes for %v, %v", len(pix), window, err)
				}
				want := reference(t, data)
				for i, number := range pix {
					x, y := window.Min.X+i%window.Dx(), window.Min.Y+i/window.Dx()
					if is := stored(want, k, x, y); number != is {
						t.Fatalf("pixel %d, %d is %d, want %d", x, y, number, is)
					}
				}
				if _, err := d.Read(window, Form{1, true}); !errors.Is(err, ErrMisuse) {
					t.Fatalf("numbers of 16 bits: %v", err)
				}
			}
		})
	}
}
