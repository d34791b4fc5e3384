package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"testing"

	"golang.org/x/image/bmp"
)

// paletted is a picture whose palette has nothing to do with its indices.
func paletted() *image.Paletted {
	palette := make(color.Palette, 256)
	for i := range palette {
		palette[i] = color.RGBA{uint8(77 * i), uint8(255 - i), 9, 255}
	}
	picture := image.NewPaletted(image.Rect(0, 0, 21, 13), palette)
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i * 7)
	}
	return picture
}

func TestIndicesOfEveryFormatThatHasThem(t *testing.T) {
	picture := paletted()
	gray := &image.Gray{Pix: picture.Pix, Stride: picture.Stride, Rect: picture.Rect}
	var asGIF, asBMP, grayBMP bytes.Buffer
	if err := errors.Join(gif.EncodeAll(&asGIF, &gif.GIF{Image: []*image.Paletted{picture}, Delay: []int{0}}),
		bmp.Encode(&asBMP, picture), bmp.Encode(&grayBMP, gray)); err != nil {
		t.Fatal(err)
	}
	d := newDecoder(t, Options{MaxPixels: 1 << 20, Channels: 1, Depth: 8, Indices: true})
	for name, data := range map[string][]byte{
		"PNG": encodePNG(t, picture, nil), "gray PNG": encodePNG(t, gray, nil),
		"GIF": asGIF.Bytes(), "BMP": asBMP.Bytes(), "gray BMP": grayBMP.Bytes(),
	} {
		for _, window := range []image.Rectangle{picture.Rect, image.Rect(4, 3, 20, 7)} {
			got, err := decode(d, data, window)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, index := range got.pix {
				x, y := window.Min.X+i%window.Dx(), window.Min.Y+i/window.Dx()
				if want := picture.ColorIndexAt(x, y); index != want {
					t.Fatalf("%s: %d, %d is %d, want %d", name, x, y, index, want)
				}
			}
		}
	}
}

func TestIndicesAreTurnedUpright(t *testing.T) {
	picture := paletted()
	d := newDecoder(t, Options{MaxPixels: 1 << 20, Channels: 1, Depth: 8, Indices: true, Orient: true})
	got, err := decode(d, encodePNG(t, picture, exif(binary.LittleEndian, 6)), image.Rectangle{})
	if err != nil || got.size != image.Pt(13, 21) {
		t.Fatalf("%v, %v", got.size, err)
	}
	for i, index := range got.pix {
		if x, y := upright[6](i%13, i/13, 21, 13); index != picture.ColorIndexAt(x, y) {
			t.Fatalf("pixel %d", i)
		}
	}
}

func TestAPictureWithoutIndicesIsAnError(t *testing.T) {
	d := newDecoder(t, Options{MaxPixels: 1 << 20, Channels: 1, Depth: 8, Indices: true})
	for _, name := range []string{"gray.jpg", "rgba.png", "gray_alpha.png", "gray16.png", "rgb24.bmp"} {
		if _, err := d.Open(content(t, name)); !errors.Is(err, ErrIndices) {
			t.Errorf("%s: %v, want %v", name, err, ErrIndices)
		}
	}
	for _, options := range []Options{{Channels: 3, Depth: 8, Indices: true}, {Channels: 1, Depth: 16, Indices: true}} {
		if _, err := NewDecoder(options); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", options, err)
		}
	}
}
