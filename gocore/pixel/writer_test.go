package pixel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// available returns the instruction sets that this machine can test.
func available() []instructions {
	return []instructions{sse2, avx2, avx512}[:best()+1]
}

// form is what a Writer is made for.
type form struct {
	channels int
	dtype    DType
	layout   Layout
	values   *Affine
}

// forms returns every form, with coefficients that differ by channel.
func forms() []form {
	values := Affine{Scale: []float64{1 / 127.5, 0.0171, -3.7, 1e-3}, Offset: []float64{-1, -2.1179, 0.3, 255}}
	var all []form
	for _, channels := range []int{1, 3, 4} {
		for _, layout := range []Layout{ChannelsLast, ChannelsFirst} {
			all = append(all, form{channels, Uint8, layout, nil}, form{channels, Float32, layout, nil})
			for _, dtype := range []DType{Float32, Float16, BFloat16} {
				all = append(all, form{channels, dtype, layout, &Affine{values.Scale[:channels], values.Offset[:channels]}})
			}
		}
	}
	return all
}

func (f form) String() string {
	return fmt.Sprintf("channels=%d/dtype=%d/layout=%d/values=%t", f.channels, f.dtype, f.layout, f.values != nil)
}

// writer returns a writer of the form.
func (f form) writer(tb testing.TB, set instructions) *Writer {
	tb.Helper()
	w, err := newWriter(f.channels, f.dtype, f.layout, f.values, set)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// index tells which of the samples of so many pixels is that of a pixel's channel, once they are mirrored.
func (f form) index(width, height, x, y, c int, flip [2]bool) int {
	if flip[0] {
		x = width - 1 - x
	}
	if flip[1] {
		y = height - 1 - y
	}
	if f.layout == ChannelsFirst {
		return (c*height+y)*width + x
	}
	return (y*width+x)*f.channels + c
}

// between returns the level that a sample stands for, and whether that lies between two, but for a tolerance and for how
// the dtype rounds.
func (f form) between(written []byte, at, c int, least, most, tolerance float64) (level float64, ok bool) {
	if f.dtype == Uint8 {
		level = float64(written[at])
		least, most = max(0, min(least, 255)), max(0, min(most, 255))
		tolerance += 0.5
	} else {
		level = f.dtype.float64(written, at)
		if f.values != nil {
			scale, offset := f.values.Scale[c], f.values.Offset[c]
			tolerance += (math.Abs(level)*f.dtype.rounding() + math.Abs(offset)*2*Float32.rounding()) / math.Abs(scale)
			level = (level - offset) / scale
		}
	}
	return level, least-tolerance <= level && level <= most+tolerance
}

// reference returns what a Writer has to write, sample by sample.
func (f form) reference(src Picture, flip [2]bool) []byte {
	size := map[DType]int{Uint8: 1, Float32: 4, Float16: 2, BFloat16: 2}[f.dtype]
	out := make([]byte, src.Width*src.Height*f.channels*size)
	for y := range src.Height {
		for x := range src.Width {
			for c := range f.channels {
				sample := src.Pix[y*src.Stride+x*f.channels+c]
				at := f.index(src.Width, src.Height, x, y, c, flip)
				if f.dtype == Uint8 {
					out[at] = sample
					continue
				}
				value := float32(sample)
				if f.values != nil {
					value = rescale(sample, f.values.Scale[c], f.values.Offset[c])
				}
				if f.dtype == Float32 {
					binary.LittleEndian.PutUint32(out[at*4:], math.Float32bits(value))
				} else {
					binary.LittleEndian.PutUint16(out[at*2:], f.dtype.half(value))
				}
			}
		}
	}
	return out
}

// rescale is what the kernels compute, in plain Go; the conversions forbid the compiler to fuse.
func rescale(x byte, scale, offset float64) float32 {
	fraction, exponent := math.Frexp(scale)
	high := float32(math.Ldexp(math.RoundToEven(math.Ldexp(fraction, 16)), exponent-16))
	near := float32(offset)
	first := float32(float32(x)*high) + near
	rest := float32(float32(x)*float32(scale-float64(high))) + float32(offset-float64(near))
	return first + rest
}

// forEach calls test with a writer for each form and instruction set.
func forEach(t *testing.T, test func(t *testing.T, f form, w *Writer)) {
	for _, set := range available() {
		for _, f := range forms() {
			t.Run(fmt.Sprintf("%s/%s", set, f), func(t *testing.T) {
				test(t, f, f.writer(t, set))
			})
		}
	}
}

// sameOnEverySet wants the same bytes with each instruction set; what says of what.
func sameOnEverySet(t *testing.T, write func(set instructions) []byte, what ...any) {
	t.Helper()
	plain := write(sse2)
	for _, set := range available()[1:] {
		if !bytes.Equal(write(set), plain) {
			t.Fatalf("%+v: %v differs", what, set)
		}
	}
}

func widths(others ...int) []int {
	var all []int
	for width := 1; width <= 70; width++ {
		all = append(all, width)
	}
	return append(all, others...)
}

var flips = [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}}

func TestWriteMatchesReference(t *testing.T) {
	noise := randomBytes(rand.New(rand.NewPCG(1, 2)), 1<<16)
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(3, 4))
		for _, width := range widths(127, 128, 224, 227, 300, 1000) {
			for _, flip := range flips {
				for _, unaligned := range []int{0, 1, 4, 48} {
					height := 1 + 40/width + random.IntN(4) // blocks of several rows, too
					stride := width*f.channels + random.IntN(20)*random.IntN(2)
					size := (height-1)*stride + width*f.channels
					start := random.IntN(len(noise) - size)
					src := Picture{noise[start : start+size], stride, width, height, f.channels, false}

					const margin, mark = 128, 0xA5
					buffer := bytes.Repeat([]byte{mark}, margin+w.Bytes(width, height)+2*margin)
					start = margin - int(uintptr(unsafe.Pointer(&buffer[0]))%64) + unaligned
					end := start + w.Bytes(width, height)
					if err := w.Write(buffer[start:end], src, flip[0], flip[1]); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(buffer[start:end], f.reference(src, flip)) {
						t.Fatalf("width %d, height %d, flips %v, unaligned by %d: differs", width, height, flip, unaligned)
					}
					outside := slices.Concat(buffer[:start], buffer[end:])
					if bytes.Count(outside, []byte{mark}) != len(outside) {
						t.Fatalf("width %d, height %d, flips %v, unaligned by %d: wrote outside", width, height, flip, unaligned)
					}
				}
			}
		}
	})
}

// TestWriteStaysInside puts picture and place against pages that may not be touched, at their ends and at their starts.
func TestWriteStaysInside(t *testing.T) {
	const pages = 16
	from, to := guarded(t, pages), guarded(t, pages)
	copy(from, randomBytes(rand.New(rand.NewPCG(5, 6)), len(from)))
	forEach(t, func(t *testing.T, f form, w *Writer) {
		for _, width := range widths(224, 227) {
			for _, flip := range flips {
				const height = 3
				src := Picture{nil, width*f.channels + 5, width, height, f.channels, false}
				size := (height-1)*src.Stride + width*f.channels
				for _, atEnd := range []bool{false, true} {
					dst := to[:w.Bytes(width, height)]
					src.Pix = from[:size]
					if atEnd {
						dst = to[len(to)-len(dst):]
						src.Pix = from[len(from)-size:]
					}
					if err := w.Write(dst, src, flip[0], flip[1]); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(dst, f.reference(src, flip)) {
						t.Fatalf("width %d, flips %v: differs", width, flip)
					}
				}
			}
		}
	})
}

// All bytes by x/127.5 - 1 must be the float32 nearest to the exact value; other coefficients may be one off.
func TestRescalingIsExact(t *testing.T) {
	src := Picture{make([]byte, 256), 256, 256, 1, 1, false}
	for x := range src.Pix {
		src.Pix[x] = byte(x)
	}
	for _, c := range []struct{ scale, offset float64 }{
		{1 / 127.5, -1}, {1 / 255.0, 0}, {1, 0}, {1 / 58.395, -123.675 / 58.395}, {-0.37, 41},
	} {
		for _, set := range available() {
			w := form{1, Float32, ChannelsLast, &Affine{[]float64{c.scale}, []float64{c.offset}}}.writer(t, set)
			dst := make([]byte, w.Bytes(src.Width, src.Height))
			if err := w.Write(dst, src, false, false); err != nil {
				t.Fatal(err)
			}
			for x := range src.Pix {
				got := math.Float32frombits(binary.LittleEndian.Uint32(dst[4*x:]))
				exact := float64(x)*c.scale + c.offset
				want := float32(exact)
				bound := 0.0
				if c.offset != -1 && c.offset != 0 {
					largest := float32(max(math.Abs(exact), math.Abs(c.offset)))
					bound = float64(math.Nextafter32(largest, math.MaxFloat32) - largest)
				}
				if math.Abs(float64(got)-float64(want)) > bound {
					t.Errorf("%s: %d*%g%+g becomes %g, not %g", set, x, c.scale, c.offset, got, want)
				}
				if divided := float32(x)/127.5 - 1; c.offset == -1 && math.Abs(float64(got)-float64(divided)) > 1.2e-7 {
					t.Errorf("%s: %d becomes %g, too far from %g", set, x, got, divided)
				}
			}
		}
	}
}

func TestNewWriterRefuses(t *testing.T) {
	one := []float64{1}
	for _, f := range []form{
		{0, Uint8, ChannelsLast, nil},
		{2, Uint8, ChannelsLast, nil},
		{5, Float32, ChannelsLast, nil},
		{3, BFloat16 + 1, ChannelsLast, nil},
		{3, Uint8, Layout(2), nil},
		{3, Float32, Layout(-1), nil},
		{1, Uint8, ChannelsLast, &Affine{one, one}},
		{3, Float32, ChannelsLast, &Affine{one, one}},
		{1, Float32, ChannelsLast, &Affine{one, nil}},
	} {
		if w, err := NewWriter(f.channels, f.dtype, f.layout, f.values); w != nil || !errors.Is(err, ErrWriter) {
			t.Errorf("%v: %v, %v", f, w, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	w, err := NewWriter(3, Uint8, ChannelsLast, nil)
	if err != nil {
		t.Fatal(err)
	}
	pix := bytes.Repeat([]byte{1}, 2*10+3*3)
	dst := make([]byte, 3*3*3)
	if err := w.Write(dst, Picture{pix, 10, 3, 3, 3, false}, false, false); err != nil {
		t.Fatal(err)
	}
	clear(dst)
	for _, src := range []Picture{
		{},
		{nil, 10, 3, 3, 3, false},
		{pix, 10, 3, 3, 1, false},
		{pix, 10, 3, 3, 0, false},
		{pix, 10, 3, 3, math.MaxInt, false},
		{pix, 8, 3, 3, 3, false},
		{pix, 0, 3, 3, 3, false},
		{pix, -10, 3, 3, 3, false},
		{pix, math.MaxInt, 3, 3, 3, false},
		{pix, math.MinInt, 3, 3, 3, false},
		{pix, 10, 0, 3, 3, false},
		{pix, 10, -3, -3, 3, false},
		{pix, 10, 2, 3, 3, false},
		{pix, 10, math.MaxInt, 3, 3, false},
		{pix, 10, 3, 0, 3, false},
		{pix, 10, 3, 2, 3, false},
		{pix, 10, 3, math.MaxInt, 3, false},
		{pix[1:], 10, 3, 3, 3, false},
		{pix, 10, 3, 3, 3, true},
	} {
		if err := w.Write(dst, src, true, true); !errors.Is(err, ErrSize) {
			t.Errorf("%v: %v", src, err)
		}
	}
	for _, place := range [][]byte{nil, dst[1:], append(dst, 0)} {
		if err := w.Write(place, Picture{pix, 10, 3, 3, 3, false}, false, false); !errors.Is(err, ErrSize) {
			t.Errorf("place of %d bytes: %v", len(place), err)
		}
	}
	if bytes.Count(dst, []byte{0}) != len(dst) {
		t.Error("a refused picture was written")
	}
}

func TestInstructionsNamesWhatWritersUse(t *testing.T) {
	w, err := NewWriter(1, Uint8, ChannelsLast, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := Instructions(); got != w.instructions.String() || !slices.Contains([]string{"sse2", "avx2", "avx512"}, got) {
		t.Errorf("%q, but writers use %v", got, w.instructions)
	}
}

func randomBytes(random *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// guarded returns memory between two pages that may not be touched.
func guarded(t *testing.T, pages int) []byte {
	page := syscall.Getpagesize()
	memory := mapMemory(t, (pages+2)*page)
	for _, guard := range [][]byte{memory[:page], memory[len(memory)-page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return memory[page : len(memory)-page]
}

// mapMemory returns memory from outside the Go heap that lives as long as the test.
func mapMemory(tb testing.TB, size int) []byte {
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := syscall.Munmap(memory); err != nil {
			tb.Error(err)
		}
	})
	return memory
}
