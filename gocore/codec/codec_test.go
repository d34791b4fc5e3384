package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Where EXIF 2.32, 4.6.5, sees the first row and the first column: from where in the stored frame of w by h pixels does
// the upright pixel x, y come.
var upright = map[uint16]func(x, y, w, h int) (int, int){
	1: func(x, y, w, h int) (int, int) { return x, y },
	2: func(x, y, w, h int) (int, int) { return w - 1 - x, y },
	3: func(x, y, w, h int) (int, int) { return w - 1 - x, h - 1 - y },
	4: func(x, y, w, h int) (int, int) { return x, h - 1 - y },
	5: func(x, y, w, h int) (int, int) { return y, x },
	6: func(x, y, w, h int) (int, int) { return y, h - 1 - x },
	7: func(x, y, w, h int) (int, int) { return w - 1 - y, h - 1 - x },
	8: func(x, y, w, h int) (int, int) { return w - 1 - y, x },
}

// orientedFiles gives a file of each format that carries EXIF.
func orientedFiles(t testing.TB, orientation uint16) map[string][]byte {
	t.Helper()
	picture := photo(61, 37, false)
	webp := content(t, "webp_named.jpg")
	return map[string][]byte{
		"JPEG":      encodeJPEG(t, picture, exif(binary.BigEndian, orientation)),
		"JPEG/CMYK": addExif(content(t, "cmyk_adobe0.jpg"), exif(binary.BigEndian, orientation)),
		"PNG":       encodePNG(t, picture, exif(binary.LittleEndian, orientation)),
		"TIFF":      encodeTIFF(t, picture, orientation),
		"WebP":      extendWebP(webp, image.Pt(23, 17), exif(binary.BigEndian, orientation)),
	}
}

func TestEveryOrientationOfEveryFormat(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, form := range []struct{ channels, depth int }{{3, 8}, {1, 8}, {4, 8}, {3, 16}, {1, 16}, {4, 16}} {
		options := Options{MaxPixels: 1 << 20, Channels: form.channels, Depth: form.depth}
		stored := newDecoder(t, options)
		options.Orient = true
		turned := newDecoder(t, options)
		size := form.channels * form.depth / 8
		for orientation := uint16(1); orientation <= 8; orientation++ {
			for format, data := range orientedFiles(t, orientation) {
				t.Run(fmt.Sprintf("%s/%d/%v", format, orientation, form), func(t *testing.T) {
					whole, err := decode(stored, data, image.Rectangle{})
					if err != nil {
						t.Fatal(err)
					}
					if stored.Orientation() != Orientation(orientation) || !strings.HasPrefix(format, stored.Format()) {
						t.Fatalf("%s of orientation %d", stored.Format(), stored.Orientation())
					}
					frame := whole.size
					if orientation >= 5 {
						frame = image.Pt(frame.Y, frame.X)
					}
					if got, err := turned.Open(data); err != nil || got != frame {
						t.Fatalf("size %v, %v, want %v", got, err, frame)
					}
					for range 40 {
						x, y := random.IntN(frame.X), random.IntN(frame.Y)
						window := image.Rect(x, y, x+1+random.IntN(frame.X-x), y+1+random.IntN(frame.Y-y))
						got, err := decode(turned, data, window)
						if err != nil {
							t.Fatal(err)
						}
						for i := range window.Dx() * window.Dy() {
							fromX, fromY := upright[orientation](window.Min.X+i%window.Dx(), window.Min.Y+i/window.Dx(), whole.size.X, whole.size.Y)
							if !bytes.Equal(got.pix[i*size:][:size], whole.pix[(fromY*whole.size.X+fromX)*size:][:size]) {
								t.Fatalf("%v: pixel %d differs from the whole picture's", window, i)
							}
						}
					}
				})
			}
		}
	}
}

func TestWindowsEqualTheWholePicture(t *testing.T) {
	for _, options := range []Options{plain, {MaxPixels: 1 << 20, Channels: 4, Depth: 8}, {MaxPixels: 1 << 20, Channels: 1, Depth: 16}} {
		d := newDecoder(t, options)
		for _, c := range cases(t) {
			checkWindows(t, d, c.File, content(t, c.File), 30)
		}
	}
}

// What is there of a progressive file that ends early is smoothed across blocks, also those beyond the window.
func TestWindowsOfTruncatedFilesEqualTheWholePicture(t *testing.T) {
	options := plain
	options.AcceptTruncated = true
	d := newDecoder(t, options)
	for _, file := range []string{"progressive_420.jpg", "progressive_gray.jpg", "odd_420.jpg", "restart_each_mcu.jpg"} {
		data := content(t, file)
		scan := bytes.Index(data, []byte{0xFF, 0xDA}) + 20
		for keep := scan; keep < len(data); keep += 1 + (len(data)-scan)/10 {
			checkWindows(t, d, fmt.Sprintf("%s, %d bytes", file, keep), data[:keep], 20)
		}
	}
}

func checkWindows(t *testing.T, d *Decoder, name string, data []byte, count int) {
	t.Helper()
	whole, err := decode(d, data, image.Rectangle{})
	if err != nil {
		return
	}
	random := rand.New(rand.NewPCG(1, uint64(len(data))))
	size := d.options.Channels * d.options.Depth / 8
	for range count {
		x, y := random.IntN(whole.size.X), random.IntN(whole.size.Y)
		window := image.Rect(x, y, x+1+random.IntN(whole.size.X-x), y+1+random.IntN(whole.size.Y-y))
		got, err := decode(d, data, window)
		if err != nil {
			t.Fatalf("%s %v: %v", name, window, err)
		}
		for row := range window.Dy() {
			at := ((y+row)*whole.size.X + x) * size
			if !bytes.Equal(got.pix[row*window.Dx()*size:][:window.Dx()*size], whole.pix[at:][:window.Dx()*size]) {
				t.Fatalf("%s %v of %v: row %d differs from the whole picture's", name, window, whole.size, row)
			}
		}
	}
}

// TestChannels compares a picture with alpha, stored in PNG and TIFF, with its own pixels.
func TestChannels(t *testing.T) {
	picture := photo(29, 23, true)
	background := [3]uint8{10, 200, 90}
	for format, data := range map[string][]byte{"PNG": encodePNG(t, picture, nil), "TIFF": encodeTIFF(t, picture, 1)} {
		for _, options := range []Options{
			{Channels: 4, Depth: 8},
			{Channels: 3, Depth: 8},
			{Channels: 1, Depth: 8},
			{Channels: 3, Depth: 8, Background: &background},
			{Channels: 1, Depth: 8, Background: &background},
			{Channels: 4, Depth: 16},
			{Channels: 3, Depth: 16, Background: &background},
		} {
			options.MaxPixels = 1 << 20
			got, err := decode(newDecoder(t, options), data, image.Rectangle{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 29 * 23 {
				stored := picture.Pix[4*i:][:4]
				unit := map[int]float64{8: 1, 16: 257}[options.Depth]
				var want []float64
				for c, value := range stored[:3] {
					v, alpha := float64(value), float64(stored[3])/255
					if options.Background != nil {
						v = math.Round((v*alpha + float64(background[c])*(1-alpha)) * unit)
					} else {
						v *= unit
					}
					want = append(want, v)
				}
				switch options.Channels {
				case 1: // ITU-R 601-2 as Pillow's convert("L") documents it, and as libpng has it, in their fixed point
					gray := math.Floor((want[0]*19595 + want[1]*38470 + want[2]*7471 + 32768) / 65536)
					if format == "PNG" {
						gray = math.Floor((want[0]*9797 + want[1]*19234 + want[2]*3737) / 32768)
					}
					want = []float64{gray}
				case 4:
					want = append(want, float64(stored[3])*unit)
				}
				for c, value := range want {
					at := i*options.Channels + c
					is := 0.0
					if options.Depth == 16 {
						is = float64(binary.NativeEndian.Uint16(got.pix[2*at:]))
					} else {
						is = float64(got.pix[at])
					}
					if is != value {
						t.Fatalf("%s %+v: pixel %d, channel %d is %g, want %g", format, options, i, c, is, value)
					}
				}
			}
		}
	}
}

func TestSixteenBits(t *testing.T) {
	wide, narrow := plain, plain
	wide.Depth = 16
	for file, source16 := range map[string]bool{"rgb16.png": true, "gray16.png": true, "gray_alpha16.png": true, "rgba.png": false, "odd_420.jpg": false, "webp_named.jpg": false} {
		whole, err := decode(newDecoder(t, wide), content(t, file), image.Rectangle{})
		if err != nil {
			t.Fatal(err)
		}
		high, err := decode(newDecoder(t, narrow), content(t, file), image.Rectangle{})
		if err != nil {
			t.Fatal(err)
		}
		twins := 0
		for i, value := range high.pix {
			got := binary.NativeEndian.Uint16(whole.pix[2*i:])
			if byte(got>>8) != value {
				t.Fatalf("%s: sample %d is %d in 8 bits and %d in 16", file, i, value, got)
			}
			if got == uint16(value)*257 {
				twins++
			}
		}
		if source16 == (twins == len(high.pix)) {
			t.Errorf("%s: %d of %d samples are their high byte twice", file, twins, len(high.pix))
		}
	}
}

func TestAnimatedWebP(t *testing.T) {
	simple, size := content(t, "webp_named.jpg"), image.Pt(23, 17)
	whole, err := decode(newDecoder(t, plain), simple, image.Rectangle{})
	if err != nil {
		t.Fatal(err)
	}
	options := plain
	options.Channels = 4
	d := newDecoder(t, options)
	canvas, at := image.Pt(40, 30), image.Pt(10, 4)
	// Leaves its pixels in the buffer where the next one has none.
	if _, err := decode(d, animateWebP(simple, size, canvas, image.Point{}), image.Rectangle{}); err != nil {
		t.Fatal(err)
	}
	got, err := decode(d, animateWebP(simple, size, canvas, at), image.Rectangle{})
	if err != nil {
		t.Fatal(err)
	}
	if got.size != canvas {
		t.Fatalf("%v", got.size)
	}
	covered := image.Rectangle{at, at.Add(size)}
	for i := range canvas.X * canvas.Y {
		p, want := image.Pt(i%canvas.X, i/canvas.X), []byte{0, 0, 0, 0}
		if p.In(covered) {
			from := p.Sub(at)
			want = append(bytes.Clone(whole.pix[3*(from.Y*size.X+from.X):][:3]), 255)
		}
		if !bytes.Equal(got.pix[4*i:][:4], want) {
			t.Fatalf("pixel %v is %v, want %v", p, got.pix[4*i:][:4], want)
		}
	}
	for name, data := range map[string][]byte{
		"frame beyond the canvas": animateWebP(simple, size, canvas, image.Pt(20, 4)),
		"frame of another size":   animateWebP(simple, image.Pt(21, 17), canvas, at),
		"no frame":                animateWebP(simple, size, canvas, at)[:12+18+14],
	} {
		if _, err := decode(d, data, image.Rectangle{}); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}

func TestAGIFFrameLiesOnItsCanvas(t *testing.T) {
	covered := image.Rect(7, 5, 27, 16)
	frame := image.NewPaletted(covered, color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{}, color.NRGBA{200, 100, 50, 255}})
	for i := range frame.Pix {
		frame.Pix[i] = uint8(i % 3)
	}
	var out bytes.Buffer
	canvas := image.Config{Width: 40, Height: 30, ColorModel: frame.Palette}
	if err := gif.EncodeAll(&out, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0}, Config: canvas}); err != nil {
		t.Fatal(err)
	}
	d := newDecoder(t, Options{MaxPixels: 1 << 20, Channels: 4, Depth: 8})
	for range 2 { // the second time the buffer is not new
		for _, window := range []image.Rectangle{covered, image.Rect(0, 0, 40, 30), image.Rect(20, 10, 33, 25), image.Rect(0, 0, 3, 3)} {
			got, err := decode(d, out.Bytes(), window)
			if err != nil {
				t.Fatal(err)
			}
			for i := range window.Dx() * window.Dy() {
				p, want := window.Min.Add(image.Pt(i%window.Dx(), i/window.Dx())), color.NRGBA{}
				if p.In(covered) {
					want = frame.At(p.X, p.Y).(color.NRGBA)
				}
				if is := got.pix[4*i:][:4]; !bytes.Equal(is, []byte{want.R, want.G, want.B, want.A}) {
					t.Fatalf("%v: pixel %v is %v, want %v", window, p, is, want)
				}
			}
		}
	}
}

func TestCutFilesAreErrorsWhateverTheWindow(t *testing.T) {
	d := newDecoder(t, plain)
	for format, data := range orientedFiles(t, 1) {
		size, err := d.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		corner := image.Rect(0, 0, 1, 1)
		for _, keep := range []int{len(data) / 3, len(data) / 2, len(data) * 3 / 4} {
			if _, err := decode(d, data[:keep], corner); err == nil {
				t.Errorf("%s of %v: %d of %d bytes decode", format, size, keep, len(data))
			}
		}
	}
	for _, file := range []string{"gif_named.jpg", "rgb24.bmp", "palette8.bmp"} {
		data := content(t, file)
		if _, err := decode(d, data[:len(data)*3/4], image.Rect(0, 0, 1, 1)); err == nil {
			t.Errorf("%s decodes", file)
		}
	}
}

func TestAPanicOfALibraryIsAnError(t *testing.T) {
	err := func() (err error) {
		defer guard("GIF", &err)
		var none []byte
		_ = none[len(t.Name())]
		return nil
	}()
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "GIF") {
		t.Errorf("%v", err)
	}
}

func TestMisuseIsAnError(t *testing.T) {
	background := [3]uint8{}
	for _, options := range []Options{
		{Channels: 2, Depth: 8}, {Channels: 0, Depth: 8}, {Channels: 3, Depth: 12}, {Channels: 4, Depth: 8, Background: &background},
	} {
		if d, err := NewDecoder(options); d != nil || !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", options, err)
		}
	}
	d := newDecoder(t, plain)
	if _, err := d.Read(image.Rect(0, 0, 1, 1)); !errors.Is(err, ErrOptions) {
		t.Errorf("read before open: %v", err)
	}
	for _, window := range []image.Rectangle{{}, image.Rect(-1, 0, 2, 2), image.Rect(0, 0, 24, 1), image.Rect(22, 16, 24, 17)} {
		if _, err := decodeExactly(d, content(t, "palette.png"), window); !errors.Is(err, ErrOptions) {
			t.Errorf("%v: %v", window, err)
		}
	}
}

// decodeExactly takes the empty window as it is.
func decodeExactly(d *Decoder, data []byte, window image.Rectangle) ([]byte, error) {
	if _, err := d.Open(data); err != nil {
		return nil, err
	}
	p, err := d.Read(window)
	if err != nil {
		return nil, err
	}
	return rows(p), nil
}

func BenchmarkWindow(b *testing.B) {
	options := plain
	options.Orient = true
	d := newDecoder(b, options)
	for _, orientation := range []uint16{1, 2, 3, 6} {
		b.Run(fmt.Sprint(orientation), func(b *testing.B) {
			data := encodeJPEG(b, photo(500, 375, false), exif(binary.BigEndian, orientation))
			for b.Loop() {
				if _, err := d.Open(data); err != nil {
					b.Fatal(err)
				}
				if _, err := d.Read(image.Rect(100, 80, 324, 304)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
