package png

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	stdpng "image/png"
	"math/rand/v2"
	"slices"
	"testing"
)

func chunkBytes(kind string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

func ihdr(width, height, bits, colorType int, interlaced bool) []byte {
	body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	last := byte(0)
	if interlaced {
		last = 1
	}
	return chunkBytes("IHDR", append(body, byte(bits), byte(colorType), 0, 0, last))
}

func deflated(raw []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(raw) // a bytes.Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

func join(parts ...[]byte) []byte { return append([]byte(signature), bytes.Join(parts, nil)...) }

type kind struct {
	bits, colorType int
	interlaced      bool
	transparency    bool
}

func kinds() []kind {
	var all []kind
	depths := map[int][]int{gray: {1, 2, 4, 8, 16}, rgb: {8, 16}, indexed: {1, 2, 4, 8}, grayAlpha: {8, 16}, rgba: {8, 16}}
	for _, colorType := range []int{gray, rgb, indexed, grayAlpha, rgba} {
		for _, bits := range depths[colorType] {
			for _, interlaced := range []bool{false, true} {
				all = append(all, kind{bits, colorType, interlaced, false})
				if colorType < grayAlpha {
					all = append(all, kind{bits, colorType, interlaced, true})
				}
			}
		}
	}
	return all
}

// noise is a picture of random samples under random filters.
func (k kind) noise(random *rand.Rand, width, height int) []byte {
	f := file{width: width, height: height, bits: k.bits, colorType: k.colorType, interlaced: k.interlaced}
	var raw []byte
	for _, p := range f.passes() {
		w, h := p.size(&f)
		for range h * min(w, 1) {
			raw = append(raw, byte(random.IntN(5)))
			for range f.rowBytes(w) {
				raw = append(raw, byte(random.IntN(256)>>(6*random.IntN(2))))
			}
		}
	}
	parts := [][]byte{ihdr(width, height, k.bits, k.colorType, k.interlaced)}
	fill := func(size int) []byte {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	if k.colorType == indexed {
		parts = append(parts, chunkBytes("PLTE", fill(3<<k.bits)))
	}
	if k.transparency {
		parts = append(parts, chunkBytes("tRNS", map[int][]byte{gray: {0, 1}, rgb: {0, 1, 0, 2, 0, 3}, indexed: fill(1 << k.bits)}[k.colorType]))
	}
	data := deflated(raw)
	cut := random.IntN(len(data) + 1)
	parts = append(parts, chunkBytes("IDAT", data[:cut]), chunkBytes("IDAT", data[cut:]), chunkBytes("IEND", nil))
	return join(parts...)
}

// reference is what the standard library decodes, in 16 bits.
func reference(t *testing.T, data []byte) image.Image {
	t.Helper()
	picture, err := stdpng.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// colors gives the stored colours, not multiplied by alpha.
func colors(at color.Color) [4]uint16 {
	switch c := at.(type) {
	case color.NRGBA:
		return [4]uint16{uint16(c.R) * 257, uint16(c.G) * 257, uint16(c.B) * 257, uint16(c.A) * 257}
	case color.NRGBA64:
		return [4]uint16{c.R, c.G, c.B, c.A}
	default: // opaque
		r, g, b, a := at.RGBA()
		return [4]uint16{uint16(r), uint16(g), uint16(b), uint16(a)}
	}
}

func TestEveryKindAsTheStandardLibraryDecodesIt(t *testing.T) {
	d, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for _, k := range kinds() {
		t.Run(fmt.Sprintf("%+v", k), func(t *testing.T) {
			for _, size := range []image.Point{{1, 1}, {2, 3}, {5, 4}, {8, 8}, {23, 17}, {3, 40}, {70, 2}} {
				data := k.noise(random, size.X, size.Y)
				want := reference(t, data)
				header, err := d.Open(data)
				if err != nil {
					t.Fatal(err)
				}
				if header.Width != size.X || header.Height != size.Y || header.Alpha != (k.transparency || k.colorType >= grayAlpha) {
					t.Fatalf("%+v, want %v", header, size)
				}
				for range 8 {
					x, y := random.IntN(size.X), random.IntN(size.Y)
					window := image.Rect(x, y, x+1+random.IntN(size.X-x), y+1+random.IntN(size.Y-y))
					for _, form := range []Form{{3, false}, {4, false}, {3, true}, {4, true}} {
						pix, err := d.Read(window, form)
						if err != nil {
							t.Fatal(err)
						}
						checkWindow(t, pix, want, window, form)
					}
				}
			}
		})
	}
}

func checkWindow(t *testing.T, pix []byte, want image.Image, window image.Rectangle, form Form) {
	t.Helper()
	if len(pix) != window.Dx()*window.Dy()*form.PixelBytes() {
		t.Fatalf("%d bytes for %v", len(pix), window)
	}
	for i := range window.Dx() * window.Dy() {
		x, y := window.Min.X+i%window.Dx(), window.Min.Y+i/window.Dx()
		expected := colors(want.At(x, y))
		for c := range form.Channels {
			got, is := uint16(0), expected[c]
			if form.Wide {
				got = binary.NativeEndian.Uint16(pix[2*(i*form.Channels+c):])
			} else {
				got, is = uint16(pix[i*form.Channels+c]), is>>8
			}
			if got != is {
				t.Fatalf("%v of %v: pixel %d, %d, channel %d is %d, want %d", form, window, x, y, c, got, is)
			}
		}
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	d, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const width, height = 5, 4
	raw := make([]byte, height*(1+3*width))
	start, data, end := ihdr(width, height, 8, rgb, false), deflated(raw), chunkBytes("IEND", nil)
	idat := func(body []byte) []byte { return chunkBytes("IDAT", body) }
	spoiled := func(chunk []byte) []byte {
		chunk = slices.Clone(chunk)
		chunk[len(chunk)-1]++
		return chunk
	}
	paletted, palette := ihdr(width, height, 8, indexed, false), chunkBytes("PLTE", make([]byte, 30))
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"whole":                     {join(start, idat(data), end), nil},
		"bytes after the end":       {append(join(start, idat(data), end), "garbage"...), nil},
		"rows after the last":       {join(start, idat(deflated(append(slices.Clone(raw), raw...))), end), nil},
		"bytes after the rows":      {join(start, idat(append(slices.Clone(data), "garbage"...)), end), nil},
		"another IDAT later":        {join(start, idat(data), chunkBytes("tEXt", []byte("a\x00b")), idat(data), end), nil},
		"a wrong ancillary chunk":   {join(start, spoiled(chunkBytes("gAMA", []byte{0, 0, 1, 0})), idat(data), end), nil},
		"a palette of RGB":          {join(start, chunkBytes("PLTE", make([]byte, 31)), idat(data), end), nil},
		"no end":                    {join(start, idat(data)), ErrTruncated},
		"cut in a chunk":            {join(start, idat(data))[:60], ErrTruncated},
		"header alone":              {join(start)[:30], ErrTruncated},
		"a row too few":             {join(start, idat(deflated(raw[:len(raw)-1])), end), ErrTruncated},
		"no data in IDAT":           {join(start, idat(nil), end), ErrTruncated},
		"data in two places":        {join(start, idat(data[:9]), chunkBytes("tEXt", []byte("a\x00b")), idat(data[9:]), end), ErrCorrupt},
		"no IDAT":                   {join(start, end), ErrCorrupt},
		"wrong checksum of IDAT":    {join(start, spoiled(idat(data)), end), ErrCorrupt},
		"wrong checksum of IHDR":    {join(spoiled(start), idat(data), end), ErrCorrupt},
		"wrong checksum of data":    {join(start, idat(spoiled(data)), end), ErrCorrupt},
		"unknown filter":            {join(start, idat(deflated(append([]byte{5}, raw[1:]...))), end), ErrCorrupt},
		"unknown critical chunk":    {join(start, chunkBytes("ABCD", nil), idat(data), end), ErrCorrupt},
		"chunk name of no letters":  {join(start, chunkBytes("a b1", nil), idat(data), end), ErrCorrupt},
		"two headers":               {join(start, start, idat(data), end), ErrCorrupt},
		"header not first":          {join(chunkBytes("tEXt", nil), start, idat(data), end), ErrCorrupt},
		"signature":                 {append([]byte("\x89PNG\n\r\x1a\n"), join(start, idat(data), end)[8:]...), ErrCorrupt},
		"depth of 3 bits":           {join(ihdr(width, height, 3, gray, false), idat(data), end), ErrCorrupt},
		"no width":                  {join(ihdr(0, height, 8, rgb, false), idat(data), end), ErrCorrupt},
		"no palette":                {join(paletted, idat(data), end), ErrCorrupt},
		"palette after the data":    {join(paletted, idat(data), palette, end), ErrCorrupt},
		"palette of 31 bytes":       {join(paletted, chunkBytes("PLTE", make([]byte, 31)), idat(data), end), ErrCorrupt},
		"two palettes":              {join(paletted, palette, palette, idat(data), end), ErrCorrupt},
		"far more rows than it has": {join(ihdr(10_000, 10_000, 8, rgb, false), idat(data), end), ErrTruncated},
	} {
		header, err := d.Open(c.file)
		if err == nil {
			_, err = d.Read(image.Rect(0, 0, header.Width, 1), Form{3, false})
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestNumbersBeyondThePaletteAreBlack(t *testing.T) {
	d, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	data := join(ihdr(3, 1, 8, indexed, false), chunkBytes("PLTE", []byte{9, 8, 7}), chunkBytes("IDAT", deflated([]byte{0, 0, 1, 255})), chunkBytes("IEND", nil))
	if _, err := d.Open(data); err != nil {
		t.Fatal(err)
	}
	pix, err := d.Read(image.Rect(0, 0, 3, 1), Form{4, false})
	if want := []byte{9, 8, 7, 255, 0, 0, 0, 255, 0, 0, 0, 255}; err != nil || !bytes.Equal(pix, want) {
		t.Errorf("%v, %v, want %v", pix, err, want)
	}
}

func TestTransparentGrayCountsOnlyItsBits(t *testing.T) {
	d, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	// Bits beyond the sample's do not count, as with libpng: 0x0102 of 8 bits is 2.
	data := join(ihdr(2, 1, 8, gray, false), chunkBytes("tRNS", []byte{1, 2}), chunkBytes("IDAT", deflated([]byte{0, 2, 3})), chunkBytes("IEND", nil))
	if _, err := d.Open(data); err != nil {
		t.Fatal(err)
	}
	pix, err := d.Read(image.Rect(0, 0, 2, 1), Form{4, false})
	if want := []byte{2, 2, 2, 0, 3, 3, 3, 255}; err != nil || !bytes.Equal(pix, want) {
		t.Errorf("%v, %v, want %v", pix, err, want)
	}
}

func TestMisuseIsAnError(t *testing.T) {
	d, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Read(image.Rect(0, 0, 1, 1), Form{3, false}); !errors.Is(err, ErrMisuse) {
		t.Errorf("read before open: %v", err)
	}
	if _, err := d.Open(kind{8, rgb, false, false}.noise(rand.New(rand.NewPCG(1, 1)), 4, 4)); err != nil {
		t.Fatal(err)
	}
	for _, window := range []image.Rectangle{{}, image.Rect(-1, 0, 2, 2), image.Rect(0, 0, 5, 1), image.Rect(0, 3, 1, 5)} {
		if _, err := d.Read(window, Form{3, false}); !errors.Is(err, ErrMisuse) {
			t.Errorf("%v: %v", window, err)
		}
	}
	if _, err := d.Read(image.Rect(0, 0, 1, 1), Form{1, false}); !errors.Is(err, ErrMisuse) {
		t.Errorf("one channel: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, k := range kinds() {
		f.Add(k.noise(random, 1+random.IntN(20), 1+random.IntN(20)), uint8(random.Uint32()))
	}
	d, err := NewDecoder()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, data []byte, choice uint8) {
		header, err := d.Open(data)
		if err != nil || header.Width > 1<<20/header.Height {
			return
		}
		form := Form{[...]int{3, 4, 1}[choice%3], choice&4 != 0}
		window := image.Rect(header.Width/3, header.Height/3, header.Width, header.Height-header.Height/4)
		pix, err := d.Read(window, form)
		if err == nil && len(pix) != window.Dx()*window.Dy()*form.PixelBytes() {
			t.Errorf("%d bytes for %v", len(pix), window)
		}
	})
}

// FuzzRows puts any bytes as the rows of a picture of any kind, which no checksum hides from the decoder.
func FuzzRows(f *testing.F) {
	for i := range kinds() {
		f.Add([]byte("\x04some rows that are filtered\x03in some way"), uint8(i), uint8(3+i), uint8(2+i%5))
	}
	d, err := NewDecoder()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, raw []byte, choice, width, height uint8) {
		k := kinds()[int(choice)%len(kinds())]
		data := join(ihdr(int(width)%64+1, int(height)%32+1, k.bits, k.colorType, k.interlaced), chunkBytes("PLTE", []byte{1, 2, 3}),
			chunkBytes("tRNS", make([]byte, 2)), chunkBytes("IDAT", deflated(append(raw, make([]byte, 1<<15)...))), chunkBytes("IEND", nil))
		header, err := d.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		window := image.Rect(header.Width/3, header.Height/3, header.Width, header.Height-header.Height/4)
		form := Form{[...]int{3, 4, 1}[choice>>5%3], choice&128 != 0}
		if pix, err := d.Read(window, form); err == nil && len(pix) != window.Dx()*window.Dy()*form.PixelBytes() {
			t.Errorf("%d bytes for %v", len(pix), window)
		}
	})
}
