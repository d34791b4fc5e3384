package pixel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// resamplings returns all that the libraries have.
func resamplings() []Resampling {
	var all []Resampling
	for convention, interpolations := range has {
		for _, interpolation := range interpolations {
			for _, antialias := range []bool{false, true} {
				if r := (Resampling{interpolation, antialias, Convention(convention)}); r.Check() == nil {
					all = append(all, r)
				}
			}
		}
	}
	return all
}

// randomAxis returns an axis that shrinks, enlarges or keeps, of a whole picture or a part, with all output or a part.
func randomAxis(random *rand.Rand) Axis {
	a := Axis{Input: 1 + random.IntN(60), Output: 1 + random.IntN(40)}
	switch random.IntN(4) {
	case 0:
		a.Input = a.Output
	case 1:
		a.Input = a.Output * (1 + random.IntN(4))
	}
	a.Length, a.Count = float64(a.Input), a.Output
	if random.IntN(2) == 0 {
		a.Start = random.Float64() * float64(a.Input) * 0.5
		a.Length = (0.1 + 0.9*random.Float64()) * (float64(a.Input) - a.Start)
	}
	if random.IntN(2) == 0 {
		a.First = random.IntN(a.Output)
		a.Count = 1 + random.IntN(a.Output-a.First)
	}
	return a
}

func randomPicture(random *rand.Rand, width, height, channels int) Picture {
	stride := width*channels + random.IntN(3)
	pix := randomBytes(random, stride*(height-1)+width*channels)
	for i := range pix {
		if pix[i]&7 == 0 { // hard edges, where kernels overshoot
			pix[i] = byte(int8(pix[i]) >> 7)
		}
	}
	return Picture{pix, stride, width, height, channels, false}
}

// window returns what of the picture lies between the edges.
func (p Picture) window(fromX, toX, fromY, toY int) Picture {
	start := fromY*p.Stride + fromX*p.Channels
	end := (toY-1)*p.Stride + toX*p.Channels
	return Picture{p.Pix[start:end], p.Stride, toX - fromX, toY - fromY, p.Channels, false}
}

func resample(t *testing.T, w *Writer, src Picture, x, y Axis, r Resampling, flipX, flipY bool) []byte {
	t.Helper()
	dst := make([]byte, w.Bytes(x.Count, y.Count))
	if err := w.Resample(new(Scratch), dst, src, image.Point{}, x, y, r, flipX, flipY); err != nil {
		t.Fatal(err)
	}
	return dst
}

func floats(b []byte) []float64 {
	values := make([]float64, len(b)/4)
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return values
}

// definition returns an output pixel's weights in float64 by the textbook, and the first source pixel: a kernel, stretched
// where antialiased pixels shrink, whose weights sum up to 1; or the share of each pixel in an interval.
func definition(a Axis, i int, r Resampling) (first int, _ []float64) {
	scale := a.Length / float64(a.Output)
	stretch := 1.0
	if r.Antialias {
		stretch = max(1, scale)
	}
	sinc := func(x float64) float64 {
		if x == 0 {
			return 1
		}
		return math.Sin(math.Pi*x) / (math.Pi * x)
	}
	lanczos := func(x, radius float64) float64 {
		if x >= radius {
			return 0
		}
		return sinc(x) * sinc(x/radius)
	}
	weights := make([]float64, a.Input)
	sum := 0.0
	for p := range weights {
		x := math.Abs(float64(p)+0.5-a.Start-(float64(i)+0.5)*scale) / stretch
		switch r.Interpolation {
		case Bilinear:
			weights[p] = max(0, 1-x)
		case Bicubic:
			if x < 1 {
				weights[p] = 1.5*x*x*x - 2.5*x*x + 1
			} else if x < 2 {
				weights[p] = -0.5*x*x*x + 2.5*x*x - 4*x + 2
			}
		case Lanczos3:
			weights[p] = lanczos(x, 3)
		case Lanczos5:
			weights[p] = lanczos(x, 5)
		case Gaussian:
			if x < 1.5 {
				weights[p] = math.Exp(-x * x / (2 * 0.5 * 0.5))
			}
		case MitchellCubic:
			const b, c = 1.0 / 3, 1.0 / 3
			if x < 1 {
				weights[p] = ((12-9*b-6*c)*x*x*x + (-18+12*b+6*c)*x*x + 6 - 2*b) / 6
			} else if x < 2 {
				weights[p] = ((-b-6*c)*x*x*x + (6*b+30*c)*x*x + (-12*b-48*c)*x + 8*b + 24*c) / 6
			}
		case Area:
			start := a.Start + float64(i)*scale
			weights[p] = max(0, min(float64(p+1), start+scale)-max(float64(p), start))
		}
		sum += weights[p]
	}
	for weights[first] == 0 {
		first++
	}
	weights = weights[first:]
	for weights[len(weights)-1] == 0 {
		weights = weights[:len(weights)-1]
	}
	for k := range weights {
		weights[k] /= sum
	}
	return first, weights
}

// TestResampleMatchesDefinition compares Keras' float32, in every form, with float64, sample by sample.
func TestResampleMatchesDefinition(t *testing.T) {
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(11, 12))
		for range 8 {
			x, y := randomAxis(random), randomAxis(random)
			src := randomPicture(random, x.Input, y.Input, f.channels)
			flip := flips[random.IntN(len(flips))]
			for _, r := range []Resampling{{Bilinear, false, LikeKeras}, {Bilinear, true, LikeKeras}, {Bicubic, true, LikeKeras},
				{Area, false, LikeKeras}, {Lanczos3, true, LikeKeras}, {Lanczos5, false, LikeKeras},
				{Gaussian, false, LikeKeras}, {MitchellCubic, false, LikeKeras}} {
				got := resample(t, w, src, x, y, r, flip[0], flip[1])
				for j := range y.Count {
					firstY, weightsY := definition(y, y.First+j, r)
					for i := range x.Count {
						firstX, weightsX := definition(x, x.First+i, r)
						for c := range f.channels {
							want := 0.0
							for q, weightY := range weightsY {
								for p, weightX := range weightsX {
									at := (firstY+q)*src.Stride + (firstX+p)*f.channels + c
									want += weightX * weightY * float64(src.Pix[at])
								}
							}
							at := f.index(x.Count, y.Count, i, j, c, flip)
							const tolerance = 0.02 // places are float32, too
							if level, ok := f.between(got, at, c, want, want, tolerance); !ok {
								t.Fatalf("%v, x %+v, y %+v, flips %v: sample %d, %d, %d is %g, not %g", r, x, y, flip, i, j, c, level, want)
							}
						}
					}
				}
			}
		}
	})
}

// TestResampleIsTheSameOnEverySet compares all instruction sets, bit by bit, in every form.
func TestResampleIsTheSameOnEverySet(t *testing.T) {
	for _, f := range forms() {
		random := rand.New(rand.NewPCG(13, 14))
		for range 30 {
			x, y := randomAxis(random), randomAxis(random)
			src := randomPicture(random, x.Input, y.Input, f.channels)
			flip := flips[random.IntN(len(flips))]
			for _, r := range resamplings() {
				sameOnEverySet(t, func(set instructions) []byte {
					return resample(t, f.writer(t, set), src, x, y, r, flip[0], flip[1])
				}, f, r, x, y, flip)
			}
		}
	}
}

// TestResamplePartsAreTheWhole makes a part of the output from no more of the picture than it needs.
func TestResamplePartsAreTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	var scratch Scratch
	for _, set := range available() {
		w := form{3, Float32, ChannelsLast, nil}.writer(t, set)
		for range 40 {
			x, y := randomAxis(random), randomAxis(random)
			src := randomPicture(random, x.Input, y.Input, 3)
			for _, r := range resamplings() {
				allX, allY := x, y
				allX.First, allX.Count, allY.First, allY.Count = 0, x.Output, 0, y.Output
				all := resample(t, w, src, allX, allY, r, false, false)

				fromX, toX := r.Needs(x)
				fromY, toY := r.Needs(y)
				part := make([]byte, w.Bytes(x.Count, y.Count))
				window := src.window(fromX, toX, fromY, toY)
				if err := w.Resample(&scratch, part, window, image.Pt(fromX, fromY), x, y, r, false, false); err != nil {
					t.Fatal(err)
				}
				for j := range y.Count {
					start := ((y.First+j)*x.Output + x.First) * 12
					if row := part[j*x.Count*12 : (j+1)*x.Count*12]; !bytes.Equal(row, all[start:start+len(row)]) {
						t.Fatalf("%v, x %+v, y %+v: row %d differs", r, x, y, j)
					}
				}
			}
		}
	}
}

// TestResampleStaysInside puts picture and place against pages that may not be touched, at their ends and at their starts.
func TestResampleStaysInside(t *testing.T) {
	from, to := guarded(t, 16), guarded(t, 16)
	copy(from, randomBytes(rand.New(rand.NewPCG(17, 18)), len(from)))
	var scratch Scratch
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(19, 20))
		for range 40 {
			x, y := randomAxis(random), randomAxis(random)
			for _, r := range resamplings() {
				fromX, toX := r.Needs(x)
				fromY, toY := r.Needs(y)
				src := Picture{nil, (toX-fromX)*f.channels + random.IntN(3), toX - fromX, toY - fromY, f.channels, false}
				size := (src.Height-1)*src.Stride + src.Width*f.channels
				for _, atEnd := range []bool{false, true} {
					dst := to[:w.Bytes(x.Count, y.Count)]
					src.Pix = from[:size]
					if atEnd {
						dst = to[len(to)-len(dst):]
						src.Pix = from[len(from)-size:]
					}
					if err := w.Resample(&scratch, dst, src, image.Pt(fromX, fromY), x, y, r, true, false); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// TestResampleKeepsNeighbours checks that nothing but the place is written.
func TestResampleKeepsNeighbours(t *testing.T) {
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(21, 22))
		for range 8 {
			x, y := randomAxis(random), randomAxis(random)
			src := randomPicture(random, x.Input, y.Input, f.channels)
			r := Resampling{Bilinear, true, []Convention{LikeKeras, LikePillow}[random.IntN(2)]}
			const margin, mark = 256, 0xA5
			buffer := bytes.Repeat([]byte{mark}, margin+w.Bytes(x.Count, y.Count)+margin)
			dst := buffer[margin : len(buffer)-margin]
			if err := w.Resample(new(Scratch), dst, src, image.Point{}, x, y, r, false, true); err != nil {
				t.Fatal(err)
			}
			clear(dst)
			if bytes.Count(buffer, []byte{mark}) != 2*margin {
				t.Fatalf("%v, x %+v, y %+v: wrote outside", r, x, y)
			}
		}
	})
}

// TestResampleOfAllPixelsIsWrite checks that nothing changes where nothing is to change.
func TestResampleOfAllPixelsIsWrite(t *testing.T) {
	forEach(t, func(t *testing.T, f form, w *Writer) {
		random := rand.New(rand.NewPCG(23, 24))
		for _, r := range resamplings() {
			if r.Interpolation == Gaussian || r.Interpolation == MitchellCubic {
				continue // they blur
			}
			width, height := 1+random.IntN(80), 1+random.IntN(20)
			src := randomPicture(random, width, height, f.channels)
			x := Axis{width, 0, float64(width), width, 0, width}
			y := Axis{height, 0, float64(height), height, 0, height}
			flip := flips[random.IntN(len(flips))]
			got := resample(t, w, src, x, y, r, flip[0], flip[1])
			want := make([]byte, len(got))
			if err := w.Write(want, src, flip[0], flip[1]); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(got, want) {
				continue
			}
			if f.dtype == Uint8 || r.Interpolation < Lanczos3 {
				t.Fatalf("%v, %d by %d: differs", r, width, height)
			}
			for i := range len(got) / w.Bytes(1, 1) * f.channels { // TensorFlow's sin(pi) is not 0
				value, want := f.dtype.float64(got, i), f.dtype.float64(want, i)
				if math.Abs(value-want) > 1e-3+2*f.dtype.rounding()*math.Abs(want) {
					t.Fatalf("%v, %d by %d: %g, not %g", r, width, height, value, want)
				}
			}
		}
	})
}

// TestScratchServesAgain resamples with one scratch what a new one each would give.
func TestScratchServesAgain(t *testing.T) {
	w, err := NewWriter(3, Uint8, ChannelsFirst, nil)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(25, 26))
	var scratch Scratch
	for range 300 {
		x, y := randomAxis(random), randomAxis(random)
		src := randomPicture(random, x.Input, y.Input, 3)
		r := resamplings()[random.IntN(len(resamplings()))]
		want := resample(t, w, src, x, y, r, true, false)
		got := make([]byte, len(want))
		for range 2 {
			if err := w.Resample(&scratch, got, src, image.Point{}, x, y, r, true, false); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%v, x %+v, y %+v: differs", r, x, y)
			}
		}
	}
}

func TestResampleRefuses(t *testing.T) {
	w, err := NewWriter(3, Uint8, ChannelsLast, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := Axis{8, 0, 8, 4, 0, 4}
	src := Picture{make([]byte, 8*8*3), 24, 8, 8, 3, false}
	bilinear := Resampling{Bilinear, true, LikeKeras}
	dst := bytes.Repeat([]byte{1}, 4*4*3)
	refused := func(dst []byte, src Picture, origin image.Point, x, y Axis, r Resampling, want error) {
		t.Helper()
		if err := w.Resample(new(Scratch), dst, src, origin, x, y, r, false, false); !errors.Is(err, want) {
			t.Errorf("%d bytes, %d x %d at %v, x %+v, y %+v, %+v: %v", len(dst), src.Width, src.Height, origin, x, y, r, err)
		}
	}
	for _, a := range []Axis{
		{},
		{0, 0, 8, 4, 0, 4},
		{8, -0.5, 8, 4, 0, 4},
		{8, 0.5, 8, 4, 0, 4},
		{8, math.NaN(), 8, 4, 0, 4},
		{8, 0, 0, 4, 0, 4},
		{8, 0, math.NaN(), 4, 0, 4},
		{8, 0, math.Inf(1), 4, 0, 4},
		{8, 0, 8, 3, 0, 4},
		{8, 0, 8, 4, 1, 4},
		{8, 0, 8, 4, -1, 4},
		{8, 0, 8, 4, math.MaxInt, 4},
		{8, 0, 8, math.MaxInt, 0, 4},
		{math.MaxInt, 0, 8, 4, 0, 4},
		{8, 0, 8, 4, 0, 3},
	} {
		refused(dst, src, image.Point{}, a, good, bilinear, ErrSize)
		refused(dst, src, image.Point{}, good, a, bilinear, ErrSize)
	}
	for _, origin := range []image.Point{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} {
		refused(dst, src, origin, good, good, bilinear, ErrSize)
	}
	refused(dst[1:], src, image.Point{}, good, good, bilinear, ErrSize)
	refused(dst, Picture{src.Pix[1:], 24, 8, 8, 3, false}, image.Point{}, good, good, bilinear, ErrSize)
	refused(dst, Picture{src.Pix, 24, 8, 8, 1, false}, image.Point{}, good, good, bilinear, ErrSize)
	for _, r := range []Resampling{
		{Lanczos4, true, LikeKeras}, {Lanczos5, true, LikePillow}, {Area, true, LikeTorchvision}, {Lanczos3, false, LikeOpenCV},
		{Lanczos3, false, LikeTorchvision},
		{-1, true, LikeKeras}, {MitchellCubic + 1, true, LikeKeras}, {Gaussian, true, LikePillow}, {Bilinear, true, -1}, {Bilinear, true, LikeOpenCV + 1},
	} {
		refused(dst, src, image.Point{}, good, good, r, ErrResampling)
	}
	if bytes.Count(dst, []byte{1}) != len(dst) {
		t.Error("a refused picture was written")
	}

	// A row this long would take more scratch than there may be.
	wide := Axis{1 << 20, 0, 1 << 20, 1 << 24, 0, 1 << 24}
	one := Axis{1, 0, 1, 1, 0, 1}
	long := Picture{make([]byte, 3<<20), 3 << 20, 1 << 20, 1, 3, false}
	refused(make([]byte, 3<<24), long, image.Point{}, wide, one, Resampling{Lanczos5, false, LikeKeras}, ErrSize)
}

func FuzzResample(f *testing.F) {
	f.Add(37, 0.5, 20.25, 12, 3, 5, uint8(1))
	f.Add(1, 0.0, 1.0, 300, 299, 1, uint8(9))
	f.Add(8, 7.9999999999, 1e-10, 60, 0, 60, uint8(13))
	f.Add(300, 299.99999999999994, 5e-14, 2, 0, 2, uint8(20))
	f.Fuzz(func(t *testing.T, input int, start, length float64, output, first, count int, which uint8) {
		a := Axis{input, start, length, output, first, count}
		r := resamplings()[int(which)%len(resamplings())]
		if input > 1000 || count > 1000 || a.check() != nil {
			return
		}
		w, err := NewWriter(3, Uint8, ChannelsLast, nil)
		if err != nil {
			t.Fatal(err)
		}
		// White in, white out: the weights of all pixels sum up to 1.
		src := Picture{bytes.Repeat([]byte{255}, 2*input*3), input * 3, input, 2, 3, false}
		got := resample(t, w, src, a, Axis{2, 0, 2, 2, 0, 2}, r, false, false)
		for i, value := range got {
			if value < 254 {
				t.Fatalf("%v, %+v: sample %d is %d", r, a, i, value)
			}
		}
	})
}

func TestNeedsOnlyWhatMatters(t *testing.T) {
	for _, test := range []struct {
		axis     Axis
		r        Resampling
		from, to int
	}{
		// Output pixel 2 of 4 lies at 5 of 8, and reaches 2 to either side.
		{Axis{8, 0, 8, 4, 2, 1}, Resampling{Bilinear, true, LikeKeras}, 3, 7},
		{Axis{8, 0, 8, 4, 2, 1}, Resampling{Bilinear, false, LikeKeras}, 4, 6},
		{Axis{8, 0, 8, 4, 2, 1}, Resampling{Area, false, LikeKeras}, 4, 6},
		{Axis{8, 0, 8, 4, 2, 1}, Resampling{Nearest, false, LikeKeras}, 5, 6},
		{Axis{8, 0, 8, 4, 2, 1}, Resampling{Bicubic, true, LikePillow}, 1, 8},
		{Axis{800, 100, 400, 200, 50, 100}, Resampling{Bilinear, true, LikePillow}, 199, 401},
		{Axis{800, 100, 400, 200, 50, 100}, Resampling{Area, false, LikeOpenCV}, 200, 400},
	} {
		if from, to := test.r.Needs(test.axis); from != test.from || to != test.to {
			t.Errorf("%v, %+v: %d to %d, not %d to %d", test.r, test.axis, from, to, test.from, test.to)
		}
	}
}

func ExampleResampling_Needs() {
	// The middle 224 of a picture's 500 columns once they are 341.
	from, to := Resampling{Bilinear, true, LikeKeras}.Needs(Axis{Input: 500, Length: 500, Output: 341, First: 58, Count: 224})
	fmt.Println(from, to)
	// Output: 84 414
}
