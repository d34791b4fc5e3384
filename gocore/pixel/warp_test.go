package pixel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// used returns a scratch that holds what no address may come from.
func used() *Scratch {
	return &Scratch{words: slices.Repeat([]int32{0x7f7f7f7f}, 1<<12)}
}

func warped(t *testing.T, w *Writer, src Picture, warp Warp, out image.Rectangle, flipX, flipY bool) []byte {
	t.Helper()
	dst := make([]byte, w.Bytes(out.Dx(), out.Dy()))
	if err := w.Warp(used(), dst, src, image.Point{}, warp, out, flipX, flipY); err != nil {
		t.Fatal(err)
	}
	return dst
}

// TestWarpIsLikeTensorFlow wants all float32 samples of every matrix, mode and interpolation to be the same, bit by bit,
// and bytes to be these, rounded.
func TestWarpIsLikeTensorFlow(t *testing.T) {
	for name, samples := range arrays(t, "warp") {
		t.Run(name, func(t *testing.T) {
			var interpolation, mode string
			var value float64
			var output image.Point
			var warp Warp
			m := &warp.Matrix
			_, err := fmt.Sscan(name, &interpolation, &mode, &value, &warp.Input.X, &warp.Input.Y, &output.X, &output.Y,
				&m[0], &m[1], &m[2], &m[3], &m[4], &m[5], &m[6], &m[7])
			if err != nil {
				t.Fatal(err)
			}
			warp.Interpolation = map[string]Interpolation{"nearest": Nearest, "bilinear": Bilinear}[interpolation]
			warp.Fill.Value = [MaxChannels]float64{value, value, value, value}
			for warp.Fill.Mode.String() != mode {
				warp.Fill.Mode++
			}
			src := goldenPicture(warp.Input.X, warp.Input.Y)
			want := floats(samples)
			for _, dtype := range []DType{Float32, Uint8} {
				w, err := NewWriter(3, dtype, ChannelsLast, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := warped(t, w, src, warp, image.Rectangle{Max: output}, false, false)
				if len(want) != output.X*output.Y*3 {
					t.Fatalf("%d samples for %v", len(want), output)
				}
				for i, want := range want {
					if dtype == Float32 {
						if got := floats(got[4*i : 4*i+4])[0]; got != want {
							t.Errorf("sample %d is %v, not %v", i, got, want)
						}
					} else if got[i] != byte(math.RoundToEven(want)) {
						t.Errorf("sample %d is %d, not %v", i, got[i], want)
					}
				}
			}
		})
	}
}

// randomWarp returns one of any mode: it turns, moves, stretches and mirrors, more often than not in perspective too.
func randomWarp(random *rand.Rand) (warp Warp, output image.Point) {
	warp.Input = image.Pt(1+random.IntN(40), 1+random.IntN(30))
	output = image.Pt(1+random.IntN(60), 1+random.IntN(20))
	warp.Interpolation = []Interpolation{Nearest, Bilinear}[random.IntN(2)]
	warp.Fill.Mode = FillMode(random.IntN(4))
	for c := range warp.Fill.Value {
		warp.Fill.Value[c] = 300*random.Float64() - 20
	}
	zoom := math.Exp(2*random.Float64() - 1)
	warp.Matrix = turned(output, warp.Input, random.Float64()*2*math.Pi*float64(random.IntN(2)), zoom)
	for i := range 6 {
		warp.Matrix[i] += 0.2 * random.NormFloat64() * float64(random.IntN(2))
	}
	warp.Matrix[2] += 10 * random.NormFloat64() * float64(random.IntN(2))
	warp.Matrix[5] += 10 * random.NormFloat64() * float64(random.IntN(2))
	switch random.IntN(3) {
	case 0:
		warp.Matrix[6], warp.Matrix[7] = 0.005*random.NormFloat64(), 0.005*random.NormFloat64()
	case 1:
		warp.Matrix[6], warp.Matrix[7] = 0.2*random.NormFloat64(), 0.2*random.NormFloat64()
	}
	return warp, output
}

// value returns what a channel has at a place of the input, in float64.
func (w Warp) value(src Picture, x, y float64, c int) float64 {
	inside := func(place float64, pixels int) float64 {
		length := float64(pixels)
		switch {
		case w.Fill.Mode == FillConstant:
			return max(-2, min(place, length+1))
		case w.Fill.Mode == FillReflect: // to and fro between the outer edges of the first and the last pixel
			if place = math.Mod(math.Mod(place+0.5, 2*length)+2*length, 2*length) - 0.5; place > length-0.5 {
				place = 2*length - 1 - place
			}
		case w.Fill.Mode == FillWrap && pixels > 1 && place < 0:
			place += length * (math.Floor(-place/(length-1)) + 1)
		case w.Fill.Mode == FillWrap && pixels > 1 && place > length-1:
			place -= length * math.Floor(place/(length-1))
		}
		return max(0, min(place, length-1))
	}
	x, y = inside(x, w.Input.X), inside(y, w.Input.Y)
	if w.Interpolation == Nearest {
		x, y = math.Round(x), math.Round(y)
	}
	pixel := func(x, y float64) float64 {
		if w.Fill.Mode == FillConstant && (x < 0 || y < 0 || x >= float64(src.Width) || y >= float64(src.Height)) {
			return w.Fill.Value[c]
		}
		x, y = min(x, float64(src.Width-1)), min(y, float64(src.Height-1))
		return float64(src.Pix[int(y)*src.Stride+int(x)*src.Channels+c])
	}
	left, top := math.Floor(x), math.Floor(y)
	x, y = x-left, y-top
	return (1-y)*((1-x)*pixel(left, top)+x*pixel(left+1, top)) + y*((1-x)*pixel(left, top+1)+x*pixel(left+1, top+1))
}

// values returns the least and the largest that an output pixel may have, as its place is computed in float32; false near
// the horizon, where that may be anywhere.
func (w Warp) values(src Picture, u, v float64, c int) (least, most float64, ok bool) {
	m := w.Matrix
	for i := range m {
		m[i] = float64(float32(m[i]))
	}
	k := m[6]*u + m[7]*v + 1
	x, y := (m[0]*u+m[1]*v+m[2])/k, (m[3]*u+m[4]*v+m[5])/k
	size := math.Abs(u) + math.Abs(v) + 1
	doubt := 1e-6 * (size + math.Abs(x) + math.Abs(y)) * (math.Abs(m[6]*u) + math.Abs(m[7]*v) + 1) / math.Abs(k) * 4
	if !(doubt < 0.01) {
		return 0, 0, false
	}
	least, most = math.Inf(1), math.Inf(-1)
	for _, dx := range []float64{-doubt, 0, doubt} {
		for _, dy := range []float64{-doubt, 0, doubt} {
			value := w.value(src, x+dx, y+dy, c)
			least, most = min(least, value), max(most, value)
		}
	}
	return least, most, true
}

// TestWarpMatchesDefinition compares every form with float64, sample by sample.
func TestWarpMatchesDefinition(t *testing.T) {
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(31, 32))
		compared, all := 0, 0
		for range 60 {
			warp, output := randomWarp(random)
			src := randomPicture(random, warp.Input.X, warp.Input.Y, f.channels)
			flip := flips[random.IntN(len(flips))]
			got := warped(t, w, src, warp, image.Rectangle{Max: output}, flip[0], flip[1])
			for j := range output.Y {
				for i := range output.X {
					for c := range f.channels {
						all++
						least, most, ok := warp.values(src, float64(i), float64(j), c)
						if !ok {
							continue
						}
						compared++
						at := f.index(output.X, output.Y, i, j, c, flip)
						if level, ok := f.between(got, at, c, least, most, 1e-3); !ok {
							t.Fatalf("%+v to %v, flips %v: sample %d, %d, %d is %g, not %g to %g", warp, output, flip, i, j, c, level,
								least, most)
						}
					}
				}
			}
		}
		if compared < all/2 {
			t.Errorf("compared only %d of %d", compared, all)
		}
	})
}

// TestWarpIsTheSameOnEverySet compares all instruction sets, bit by bit, in every form.
func TestWarpIsTheSameOnEverySet(t *testing.T) {
	for _, f := range forms() {
		random := rand.New(rand.NewPCG(33, 34))
		for range 300 {
			warp, output := randomWarp(random)
			src := randomPicture(random, warp.Input.X, warp.Input.Y, f.channels)
			flip := flips[random.IntN(len(flips))]
			sameOnEverySet(t, func(set instructions) []byte {
				return warped(t, f.writer(t, set), src, warp, image.Rectangle{Max: output}, flip[0], flip[1])
			}, f, warp, output, flip)
		}
	}
}

// randomPart returns a part of the output.
func randomPart(random *rand.Rand, output image.Point) image.Rectangle {
	x, y := random.IntN(output.X), random.IntN(output.Y)
	return image.Rect(x, y, x+1+random.IntN(output.X-x), y+1+random.IntN(output.Y-y))
}

// partOfWarp wants a part of the output, made from no more of the picture than it needs, to be that of the whole.
func partOfWarp(t *testing.T, w *Writer, warp Warp, output image.Point, part image.Rectangle, src Picture) {
	t.Helper()
	whole := warped(t, w, src, warp, image.Rectangle{Max: output}, false, false)
	needs := warp.Needs(part)
	if needs.Empty() || !needs.In(image.Rectangle{Max: warp.Input}) {
		t.Fatalf("%+v, %v: needs %v", warp, part, needs)
	}
	got := make([]byte, w.Bytes(part.Dx(), part.Dy()))
	if err := w.Warp(used(), got, src.Part(needs), needs.Min, warp, part, false, false); err != nil {
		t.Fatal(err)
	}
	row, pixel := w.Bytes(part.Dx(), 1), w.Bytes(1, 1)
	for y := range part.Dy() {
		start := ((part.Min.Y+y)*output.X + part.Min.X) * pixel
		if !bytes.Equal(got[y*row:(y+1)*row], whole[start:start+row]) {
			t.Fatalf("%+v, %v of %v, which needs %v: row %d differs", warp, part, output, needs, y)
		}
	}
}

func TestWarpPartsAreTheWhole(t *testing.T) {
	for _, set := range available() {
		random := rand.New(rand.NewPCG(35, 36))
		w := form{3, Float32, ChannelsLast, nil}.writer(t, set)
		for range 2000 {
			warp, output := randomWarp(random)
			src := randomPicture(random, warp.Input.X, warp.Input.Y, 3)
			partOfWarp(t, w, warp, output, randomPart(random, output), src)
		}
	}
}

func TestWarpNeedsOnlyWhatMatters(t *testing.T) {
	same := Matrix{1, 0, 0, 0, 1, 0, 0, 0}
	half := Matrix{0.5, 0, 0, 0, 0.5, 0, 0, 0}
	moved := Matrix{1, 0, -20, 0, 1, 0, 0, 0}
	part := image.Rect(10, 20, 40, 50)
	for _, test := range []struct {
		matrix        Matrix
		interpolation Interpolation
		fill          FillMode
		want          image.Rectangle
	}{
		{same, Bilinear, FillConstant, part},
		{same, Nearest, FillWrap, part},
		{half, Bilinear, FillReflect, image.Rect(5, 10, 21, 26)}, // the last at 19.5 and 24.5
		{half, Nearest, FillReflect, image.Rect(5, 10, 21, 26)},
		{moved, Bilinear, FillConstant, image.Rect(0, 20, 20, 50)},
		{moved, Bilinear, FillNearest, image.Rect(0, 20, 20, 50)},
		{moved, Bilinear, FillReflect, image.Rect(0, 20, 20, 50)},
		{moved, Bilinear, FillWrap, image.Rect(0, 20, 100, 50)},
		{Matrix{1, 0, 200, 0, 1, 0, 0, 0}, Bilinear, FillConstant, image.Rect(0, 0, 1, 1)},
		{Matrix{1, 0, 200, 0, 1, 0, 0, 0}, Bilinear, FillNearest, image.Rect(99, 20, 100, 50)},
		{Matrix{-1, 0, 80, 0, -1, 90, 0, 0}, Bilinear, FillConstant, image.Rect(41, 41, 71, 71)},
		{Matrix{1, 0, 0, 0, 1, 0, -0.05, 0}, Bilinear, FillConstant, image.Rect(0, 0, 100, 100)}, // meets the horizon
		{Matrix{1, 0, 0.5, 0, 1, 0.4, 0.01, 0}, Bilinear, FillConstant, image.Rect(9, 14, 30, 46)},
		{Matrix{math.NaN(), 0, 0, 0, 1, 0, 0, 0}, Bilinear, FillConstant, image.Rect(0, 0, 100, 100)},
	} {
		warp := Warp{test.matrix, image.Pt(100, 100), test.interpolation, Fill{Mode: test.fill}}
		if got := warp.Needs(part); got != test.want {
			t.Errorf("%+v: %v, not %v", warp, got, test.want)
		}
	}
}

// TestWarpStaysInside puts picture and place against pages that may not be touched, at their ends and at their starts.
func TestWarpStaysInside(t *testing.T) {
	from, to := guarded(t, 16), guarded(t, 16)
	copy(from, randomBytes(rand.New(rand.NewPCG(37, 38)), len(from)))
	var scratch Scratch
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(39, 40))
		for range 300 {
			warp, output := randomWarp(random)
			part := randomPart(random, output)
			needs := warp.Needs(part)
			src := Picture{nil, needs.Dx()*f.channels + random.IntN(3), needs.Dx(), needs.Dy(), f.channels, false}
			size := (src.Height-1)*src.Stride + src.Width*f.channels
			for _, atEnd := range []bool{false, true} {
				dst := to[:w.Bytes(part.Dx(), part.Dy())]
				src.Pix = from[:size]
				if atEnd {
					dst = to[len(to)-len(dst):]
					src.Pix = from[len(from)-size:]
				}
				if err := w.Warp(&scratch, dst, src, needs.Min, warp, part, true, false); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestWarpKeepsNeighbours checks that nothing but the place is written.
func TestWarpKeepsNeighbours(t *testing.T) {
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(41, 42))
		for range 50 {
			warp, output := randomWarp(random)
			src := randomPicture(random, warp.Input.X, warp.Input.Y, f.channels)
			const margin, mark = 256, 0xA5
			buffer := bytes.Repeat([]byte{mark}, margin+w.Bytes(output.X, output.Y)+margin)
			dst := buffer[margin : len(buffer)-margin]
			err := w.Warp(new(Scratch), dst, src, image.Point{}, warp, image.Rectangle{Max: output}, false, true)
			if err != nil {
				t.Fatal(err)
			}
			clear(dst)
			if bytes.Count(buffer, []byte{mark}) != 2*margin {
				t.Fatalf("%+v to %v: wrote outside", warp, output)
			}
		}
	})
}

// TestWarpOfAllPixelsIsWrite checks that nothing changes where nothing is to change.
func TestWarpOfAllPixelsIsWrite(t *testing.T) {
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(43, 44))
		for mode := FillConstant; mode <= FillWrap; mode++ {
			for _, interpolation := range []Interpolation{Nearest, Bilinear} {
				size := image.Pt(1+random.IntN(80), 1+random.IntN(20))
				src := randomPicture(random, size.X, size.Y, f.channels)
				warp := Warp{Matrix{1, 0, 0, 0, 1, 0, 0, 0}, size, interpolation, Fill{Mode: mode}}
				flip := flips[random.IntN(len(flips))]
				got := warped(t, w, src, warp, image.Rectangle{Max: size}, flip[0], flip[1])
				want := make([]byte, len(got))
				if err := w.Write(want, src, flip[0], flip[1]); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%+v: differs", warp)
				}
			}
		}
	})
}

func TestWarpRefuses(t *testing.T) {
	w, err := NewWriter(3, Uint8, ChannelsLast, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := Warp{Matrix{1, 0, 0, 0, 1, 0, 0, 0}, image.Pt(8, 8), Bilinear, Fill{}}
	src := Picture{make([]byte, 8*8*3), 24, 8, 8, 3, false}
	part := image.Rect(2, 2, 6, 6)
	dst := bytes.Repeat([]byte{1}, 4*4*3)
	refused := func(dst []byte, src Picture, origin image.Point, warp Warp, part image.Rectangle, want error) {
		t.Helper()
		if err := w.Warp(new(Scratch), dst, src, origin, warp, part, false, false); !errors.Is(err, want) {
			t.Errorf("%d bytes, %d by %d at %v, %+v, %v: %v", len(dst), src.Width, src.Height, origin, warp, part, err)
		}
	}
	change := func(change func(w *Warp)) Warp {
		warp := good
		change(&warp)
		return warp
	}
	for _, warp := range []Warp{
		{},
		change(func(w *Warp) { w.Interpolation = Bicubic }),
		change(func(w *Warp) { w.Interpolation = -1 }),
		change(func(w *Warp) { w.Input.X = 0 }),
		change(func(w *Warp) { w.Input.Y = math.MaxInt }),
		change(func(w *Warp) { w.Fill.Mode = FillWrap + 1 }),
		change(func(w *Warp) { w.Fill.Mode = -1 }),
		change(func(w *Warp) { w.Fill.Value[3] = math.NaN() }),
		change(func(w *Warp) { w.Fill.Value[0] = math.Inf(1) }),
		change(func(w *Warp) { w.Fill.Value[0] = 1e39 }),
	} {
		refused(dst, src, image.Point{}, warp, part, ErrResampling)
	}
	refused(dst, src, image.Point{}, change(func(w *Warp) { w.Input.X = 7 }), part, ErrSize)
	for _, part := range []image.Rectangle{
		{}, image.Rect(2, 2, 6, 7), image.Rect(-1, 2, 3, 6), image.Rect(2, -1, 6, 3), {image.Pt(6, 6), image.Pt(2, 2)},
		image.Rect(1<<24, 0, 1<<24+4, 4), {image.Pt(math.MinInt, 0), image.Pt(math.MaxInt, 4)},
	} {
		refused(dst, src, image.Point{}, good, part, ErrSize)
	}
	for _, origin := range []image.Point{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} {
		refused(dst, src, origin, good, part, ErrSize)
	}
	refused(dst, src.Part(image.Rect(0, 0, 8, 5)), image.Point{}, good, part, ErrSize)
	refused(dst, src.Part(image.Rect(3, 0, 8, 8)), image.Pt(3, 0), good, part, ErrSize)
	refused(dst[1:], src, image.Point{}, good, part, ErrSize)
	refused(dst, Picture{src.Pix[1:], 24, 8, 8, 3, false}, image.Point{}, good, part, ErrSize)
	refused(dst, Picture{src.Pix, 24, 8, 8, 1, false}, image.Point{}, good, part, ErrSize)
	refused(dst, Picture{src.Pix, 24, 4, 8, 3, true}, image.Point{}, good, part, ErrSize)
	if bytes.Count(dst, []byte{1}) != len(dst) {
		t.Error("a refused picture was written")
	}
	w, err = NewWriter(3, Uint16, ChannelsLast, nil)
	if err != nil {
		t.Fatal(err)
	}
	refused(make([]byte, w.Bytes(4, 4)), src, image.Point{}, good, part, ErrSize)
}

func FuzzWarp(f *testing.F) {
	nan, inf := math.NaN(), math.Inf(1)
	f.Add(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, uint8(13), uint8(9), uint8(4), uint8(5), uint8(0))
	f.Add(0.0, 0.0, 3e38, 0.0, 0.0, -3e38, 1e-3, 0.0, uint8(1), uint8(1), uint8(40), uint8(3), uint8(6))
	f.Add(nan, inf, 1.0, -inf, 0.0, 0.0, nan, inf, uint8(2), uint8(30), uint8(20), uint8(20), uint8(5))
	f.Add(1.0, 2.0, 3.0, 2.0, 4.0, 6.0, -0.25, -0.125, uint8(30), uint8(7), uint8(17), uint8(17), uint8(7))
	f.Add(1e30, -1e30, 1e-30, 16777216.0, 0.1, -0.1, 1e-8, -1.0, uint8(5), uint8(5), uint8(33), uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, a, b, c, d, e, ff, g, h float64, width, height, outWidth, outHeight, how uint8) {
		warp := Warp{Matrix: Matrix{a, b, c, d, e, ff, g, h}, Input: image.Pt(1+int(width), 1+int(height)),
			Interpolation: []Interpolation{Nearest, Bilinear}[how%2], Fill: Fill{Mode: FillMode(how / 2 % 4)}}
		channels := []int{1, 3, 4}[how/8%3]
		output := image.Pt(1+int(outWidth), 1+int(outHeight))
		random := rand.New(rand.NewPCG(uint64(how), uint64(width)))
		src := randomPicture(random, warp.Input.X, warp.Input.Y, channels)
		part := randomPart(random, output)
		sameOnEverySet(t, func(set instructions) []byte {
			w := form{channels, Float32, ChannelsLast, nil}.writer(t, set)
			partOfWarp(t, w, warp, output, part, src)
			got := warped(t, w, src, warp, part, true, true)
			for i := 0; i < len(got); i += 4 {
				if value := math.Float32frombits(binary.LittleEndian.Uint32(got[i:])); !(value >= 0 && value < 255.001) {
					t.Fatalf("%+v, %v: sample %d is %g", warp, part, i/4, value)
				}
			}
			return got
		}, warp, part)
	})
}
