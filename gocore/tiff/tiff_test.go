package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"testing"

	xtiff "golang.org/x/image/tiff"
)

const (
	width, height = 37, 29
	whiteIsZero   = 0
	blackIsZero   = 1
	rgb           = 2
	palette       = 3
)

// kind is a layout of a file that is not compressed.
type kind struct {
	big         bool // byte order
	bits        int
	samples     int
	photometric int
	extra       int // what the sample behind the colours is; -1: there is none
	planar      bool
	tile        image.Point // 0: strips of 5 rows
}

// file is a random picture of the kind, and its colours and alpha in 16 bits.
func (k kind) file(random *rand.Rand) (data []byte, want [][4]uint16) {
	values := make([][]uint16, width*height)
	for i := range values {
		values[i] = make([]uint16, k.samples)
		for s := range values[i] {
			values[i][s] = uint16(random.IntN(1 << k.bits))
		}
	}
	var colors [3][]uint16
	for c := range colors {
		for range 1 << k.bits {
			colors[c] = append(colors[c], uint16(random.IntN(1<<16)))
		}
	}
	want = k.meaning(values, colors)

	var order binary.AppendByteOrder = binary.LittleEndian
	data = []byte("II*\x00\x00\x00\x00\x00")
	if k.big {
		order, data = binary.BigEndian, []byte("MM\x00*\x00\x00\x00\x00")
	}
	block := image.Pt(width, 5)
	if k.tile != (image.Point{}) {
		block = k.tile
	}
	planes, each := 1, k.samples
	if k.planar {
		planes, each = k.samples, 1
	}
	var offsets, counts []uint32
	for plane := range planes {
		for top := 0; top < height; top += block.Y {
			for left := 0; left < width; left += block.X {
				start := len(data)
				for y := top; y < top+block.Y && (y < height || k.tile.X > 0); y++ {
					data = append(data, k.row(order, values, plane, each, left, y, block.X)...)
				}
				offsets, counts = append(offsets, uint32(start)), append(counts, uint32(len(data)-start))
			}
		}
	}
	return k.directory(data, order, block, offsets, counts, colors), want
}

// row packs the samples of one row of a block; beyond the picture they are 0.
func (k kind) row(order binary.AppendByteOrder, values [][]uint16, plane, each, left, y, count int) []byte {
	var out []byte
	free := 0 // bits of the last byte
	for x := left; x < left+count; x++ {
		for s := plane; s < plane+each; s++ {
			value := uint16(0)
			if x < width && y < height {
				value = values[y*width+x][s]
			}
			switch {
			case k.bits == 16:
				out = order.AppendUint16(out, value)
			case free == 0:
				free = 8
				out = append(out, 0)
				fallthrough
			default:
				free -= k.bits
				out[len(out)-1] |= byte(value) << free
			}
		}
	}
	return out
}

func (k kind) directory(data []byte, order binary.AppendByteOrder, block image.Point, offsets, counts []uint32, colors [3][]uint16) []byte {
	short := func(values ...uint16) (out []byte) {
		for _, v := range values {
			out = order.AppendUint16(out, v)
		}
		return out
	}
	long := func(values ...uint32) (out []byte) {
		for _, v := range values {
			out = order.AppendUint32(out, v)
		}
		return out
	}
	type field struct {
		tag, kind uint16
		value     []byte
	}
	planar := uint16(1)
	if k.planar {
		planar = 2
	}
	bits := bytes.Repeat(short(uint16(k.bits)), k.samples)
	fields := []field{{256, 4, long(width)}, {257, 4, long(height)}, {258, 3, bits}, {259, 3, short(1)}, {262, 3, short(uint16(k.photometric))}}
	if k.tile == (image.Point{}) {
		fields = append(fields, field{273, 4, long(offsets...)}, field{277, 3, short(uint16(k.samples))},
			field{278, 4, long(uint32(block.Y))}, field{279, 4, long(counts...)}, field{284, 3, short(planar)})
	} else {
		fields = append(fields, field{277, 3, short(uint16(k.samples))}, field{284, 3, short(planar)})
	}
	if k.photometric == palette {
		fields = append(fields, field{320, 3, short(slices.Concat(colors[0], colors[1], colors[2])...)})
	}
	if k.tile != (image.Point{}) {
		fields = append(fields, field{322, 4, long(uint32(block.X))}, field{323, 4, long(uint32(block.Y))},
			field{324, 4, long(offsets...)}, field{325, 4, long(counts...)})
	}
	if k.extra >= 0 {
		fields = append(fields, field{338, 3, short(uint16(k.extra))})
	}
	var directory []byte
	directory = order.AppendUint16(directory, uint16(len(fields)))
	for _, f := range fields {
		directory = order.AppendUint16(order.AppendUint16(directory, f.tag), f.kind)
		directory = order.AppendUint32(directory, uint32(len(f.value)/map[uint16]int{3: 2, 4: 4}[f.kind]))
		if len(f.value) <= 4 {
			directory = append(directory, append(bytes.Clone(f.value), 0, 0, 0, 0)[:4]...)
			continue
		}
		directory = order.AppendUint32(directory, uint32(len(data)))
		data = append(data, f.value...)
	}
	copy(data[4:], order.AppendUint32(nil, uint32(len(data))))
	return append(append(data, directory...), 0, 0, 0, 0)
}

// meaning is what TIFF 6.0 says of the samples.
func (k kind) meaning(values [][]uint16, colors [3][]uint16) [][4]uint16 {
	out := make([][4]uint16, len(values))
	most := uint32(1)<<k.bits - 1
	whole := func(v uint16) uint16 { return uint16(uint32(v) * 65535 / most) }
	for i, v := range values {
		switch k.photometric {
		case whiteIsZero:
			g := 65535 - whole(v[0])
			out[i] = [4]uint16{g, g, g, 65535}
		case blackIsZero:
			g := whole(v[0])
			out[i] = [4]uint16{g, g, g, 65535}
		case rgb:
			out[i] = [4]uint16{whole(v[0]), whole(v[1]), whole(v[2]), 65535}
		case palette:
			out[i] = [4]uint16{colors[0][v[0]], colors[1][v[0]], colors[2][v[0]], 65535}
		}
		if k.extra == 2 { // alpha, the colours not multiplied by it
			out[i][3] = whole(v[k.samples-1])
		}
	}
	return out
}

func kinds() []kind {
	var all []kind
	for _, big := range []bool{false, true} {
		for _, tile := range []image.Point{{}, {16, 16}, {48, 32}} {
			for _, bits := range []int{1, 2, 4, 8, 16} {
				all = append(all, kind{big, bits, 1, blackIsZero, -1, false, tile}, kind{big, bits, 1, whiteIsZero, -1, false, tile})
				if bits <= 8 {
					all = append(all, kind{big, bits, 1, palette, -1, false, tile})
				}
				for _, planar := range []bool{false, true} {
					all = append(all, kind{big, bits, 3, rgb, -1, planar, tile}, kind{big, bits, 4, rgb, 2, planar, tile},
						kind{big, bits, 4, rgb, 0, planar, tile}, kind{big, bits, 2, blackIsZero, 2, planar, tile})
				}
			}
		}
	}
	return all
}

func TestEveryLayout(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var d Decoder
	for _, k := range kinds() {
		data, want := k.file(random)
		header, err := d.Open(data)
		if err != nil {
			t.Fatalf("%+v: %v", k, err)
		}
		if header != (Header{width, height, k.extra == 2, false, 1}) {
			t.Fatalf("%+v: %+v", k, header)
		}
		for _, form := range []Form{{3, false}, {4, false}, {3, true}, {4, true}} {
			x, y := random.IntN(width), random.IntN(height)
			for _, window := range []image.Rectangle{image.Rect(0, 0, width, height), image.Rect(x, y, x+1+random.IntN(width-x), y+1+random.IntN(height-y))} {
				pix, err := d.Read(window, form)
				if err != nil {
					t.Fatalf("%+v: %v", k, err)
				}
				check(t, fmt.Sprintf("%+v %+v", k, form), pix, window, form, func(x, y int) [4]uint16 { return want[y*width+x] })
			}
		}
	}
}

func check(t *testing.T, name string, pix []byte, window image.Rectangle, form Form, want func(x, y int) [4]uint16) {
	t.Helper()
	for i := range window.Dx() * window.Dy() {
		expected := want(window.Min.X+i%window.Dx(), window.Min.Y+i/window.Dx())
		for c := range form.Channels {
			at := i*form.Channels + c
			got, is := uint16(0), expected[c]
			if form.Wide {
				got = binary.NativeEndian.Uint16(pix[2*at:])
			} else {
				got, is = uint16(pix[at]), is>>8
			}
			if got != is {
				t.Fatalf("%s %v: pixel %d, channel %d is %d, want %d", name, window, i, c, got, is)
			}
		}
	}
}

// TestAnotherEncodersFiles reads what golang.org/x/image writes, colours multiplied by alpha among them.
func TestAnotherEncodersFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	straight, multiplied := image.NewNRGBA(image.Rect(0, 0, width, height)), image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		c := color.NRGBA{uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32())}
		straight.SetNRGBA(i%width, i/width, c)
		multiplied.Set(i%width, i/width, c)
	}
	var d Decoder
	for _, options := range []*xtiff.Options{nil, {Compression: xtiff.Deflate}, {Compression: xtiff.Deflate, Predictor: true}} {
		for _, picture := range []image.Image{straight, multiplied} {
			var out bytes.Buffer
			if err := xtiff.Encode(&out, picture, options); err != nil {
				t.Fatal(err)
			}
			header, err := d.Open(out.Bytes())
			if err != nil || !header.Alpha || header.Premultiplied != (picture == image.Image(multiplied)) {
				t.Fatalf("%+v, %v", header, err)
			}
			pix, err := d.Read(picture.Bounds(), Form{4, false})
			if err != nil {
				t.Fatal(err)
			}
			check(t, fmt.Sprintf("%+v %T", options, picture), pix, picture.Bounds(), Form{4, false}, func(x, y int) [4]uint16 {
				c := straight.NRGBAAt(x, y)
				if m := multiplied.RGBAAt(x, y); header.Premultiplied {
					c = color.NRGBA{A: m.A}
					if m.A > 0 { // as Pillow divides: cut down to an integer
						c.R, c.G, c.B = uint8(int(m.R)*255/int(m.A)), uint8(int(m.G)*255/int(m.A)), uint8(int(m.B)*255/int(m.A))
					}
				}
				return [4]uint16{uint16(c.R) * 257, uint16(c.G) * 257, uint16(c.B) * 257, uint16(c.A) * 257}
			})
		}
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var d Decoder
	data, _ := kind{false, 8, 3, rgb, -1, false, image.Point{}}.file(random)
	for _, keep := range []int{0, 1, 8, len(data) / 2, len(data) - 5} {
		if _, err := d.Open(data[:keep]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", keep, len(data), err)
		}
	}
	unsupported, _ := kind{false, 8, 3, 8, -1, false, image.Point{}}.file(random) // CIELab
	if _, err := d.Open(unsupported); !errors.Is(err, ErrCorrupt) {
		t.Errorf("CIELab: %v", err)
	}
	if _, err := d.Read(image.Rect(0, 0, 1, 1), Form{3, false}); !errors.Is(err, ErrMisuse) {
		t.Errorf("read after a failed open: %v", err)
	}
	if _, err := d.Open(data); err != nil {
		t.Fatal(err)
	}
	for _, window := range []image.Rectangle{{}, image.Rect(-1, 0, 2, 2), image.Rect(0, 0, width+1, 1)} {
		if _, err := d.Read(window, Form{3, false}); !errors.Is(err, ErrMisuse) {
			t.Errorf("%v: %v", window, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	random := rand.New(rand.NewPCG(7, 8))
	for i, k := range kinds() {
		data, _ := k.file(random)
		f.Add(data, uint8(i))
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, data []byte, choice uint8) {
		header, err := d.Open(data)
		if err != nil || header.Width > 1<<18/header.Height {
			return
		}
		form := Form{3 + int(choice&1), choice&2 != 0}
		window := image.Rect(header.Width/3, header.Height/3, header.Width, header.Height-header.Height/4)
		if pix, err := d.Read(window, form); err == nil && len(pix) < window.Dx()*window.Dy()*form.Channels {
			t.Errorf("%d bytes for %v", len(pix), window)
		}
	})
}
