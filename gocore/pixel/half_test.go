package pixel

import (
	"bytes"
	"encoding/binary"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// precision returns how many bits of a number the dtype has, and what its least number is the power of.
func (d DType) precision() (bits, least int) {
	return [...]int{Float32: 24, Float16: 11, BFloat16: 8}[d], [...]int{Float32: -149, Float16: -24, BFloat16: -133}[d]
}

// rounding returns the largest share of a number that rounding changes it by.
func (d DType) rounding() float64 {
	bits, _ := d.precision()
	return math.Ldexp(1, -bits)
}

// half returns the number that is nearest, or of two the even one, as its definition has it.
func (d DType) half(value float32) uint16 {
	bits, least := d.precision()
	_, exponent := math.Frexp(float64(value))
	last := math.Ldexp(1, max(exponent-bits, least))
	rounded := math.RoundToEven(float64(value)/last) * last
	if d == BFloat16 {
		return uint16(math.Float32bits(float32(rounded)) >> 16)
	}
	sign := uint16(0)
	if math.Signbit(rounded) {
		sign = 1 << 15
	}
	switch size := math.Abs(rounded); {
	case size >= 1<<16:
		return sign | 31<<10
	case size < 1.0/(1<<14):
		return sign | uint16(size*(1<<24))
	default:
		fraction, exponent := math.Frexp(size)
		return sign | uint16(exponent+14)<<10 | uint16((2*fraction-1)*(1<<10))
	}
}

// float64 returns the value of a float sample.
func (d DType) float64(samples []byte, i int) float64 {
	if d == Float32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(samples[4*i:])))
	}
	bits := binary.LittleEndian.Uint16(samples[2*i:])
	if d == BFloat16 {
		return float64(math.Float32frombits(uint32(bits) << 16))
	}
	fraction, exponent := bits&(1<<10-1), int(bits>>10&31)
	value := math.Ldexp(float64(fraction), -24)
	switch {
	case exponent == 31 && fraction > 0:
		value = math.NaN()
	case exponent == 31:
		value = math.Inf(1)
	case exponent > 0:
		value = math.Ldexp(float64(1<<10+fraction), exponent-25)
	}
	return math.Copysign(value, float64(int16(bits)))
}

// converted returns what the kernels make of the numbers: four writers' channels each add one to 0.
func converted(t *testing.T, set instructions, dtype DType, numbers []float32) []uint16 {
	t.Helper()
	var halves []uint16
	black := Picture{make([]byte, 4), 4, 1, 1, 4, false}
	for i := 0; i < len(numbers); i += 4 {
		values := Affine{make([]float64, 4), make([]float64, 4)}
		for c, number := range numbers[i:min(i+4, len(numbers))] {
			values.Offset[c] = float64(number)
		}
		w := form{4, dtype, ChannelsLast, &values}.writer(t, set)
		dst := make([]byte, 8)
		if err := w.Write(dst, black, false, false); err != nil {
			t.Fatal(err)
		}
		for c := range min(4, len(numbers)-i) {
			halves = append(halves, binary.LittleEndian.Uint16(dst[2*c:]))
		}
	}
	return halves
}

func sixteenBits(b []byte) []uint16 {
	values := make([]uint16, len(b)/2)
	for i := range values {
		values[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return values
}

// TestHalvesAreLikeNumPys compares with numpy.float16 and ml_dtypes.bfloat16.
func TestHalvesAreLikeNumPys(t *testing.T) {
	golden := arrays(t, "half")
	var numbers, halfway []float32
	for _, number := range floats(golden["floats"]) {
		numbers = append(numbers, float32(number))
	}
	for bits := range uint16(0x7c00) {
		step := math.Ldexp(1, max(int(bits>>10), 1)-25)
		here := Float16.float64(binary.LittleEndian.AppendUint16(nil, bits), 0)
		halfway = append(halfway, float32(here+step/2))
	}
	for _, set := range available() {
		for _, test := range []struct {
			name    string
			dtype   DType
			numbers []float32
		}{{"float16", Float16, numbers}, {"bfloat16", BFloat16, numbers}, {"halfway", Float16, halfway}} {
			want := sixteenBits(golden[test.name])
			if len(want) != len(test.numbers) {
				t.Fatalf("%s: %d numbers, not %d", test.name, len(want), len(test.numbers))
			}
			for i, got := range converted(t, set, test.dtype, test.numbers) {
				// Zero has no sign when it has been added to zero.
				if got != want[i] && (got != 0 || want[i] != 1<<15 || test.numbers[i] != 0) {
					t.Errorf("%s, %s: %g becomes %#04x, not %#04x", set, test.name, test.numbers[i], got, want[i])
				}
			}
		}
	}
}

// TestHalvesAreNearest compares numbers next to those half way with the definition.
func TestHalvesAreNearest(t *testing.T) {
	random := rand.New(rand.NewPCG(61, 62))
	var numbers []float32
	for range 3000 {
		middle := math.Float32frombits(random.Uint32()&^0x1fff | 0x1000) // of two float16s
		if random.IntN(2) == 0 {
			middle = math.Float32frombits(random.Uint32()&^0xffff | 0x8000) // of two bfloat16s
		}
		if random.IntN(2) == 0 {
			middle = float32(math.Ldexp(random.Float64()*2-1, random.IntN(40)-26))
		}
		if below := math.Nextafter32(middle, 0); math.Abs(float64(middle)) < 1e38 {
			numbers = append(numbers, below, middle, 2*middle-below)
		}
	}
	numbers = append(numbers, 65519.996, 65520, -65520, 65504, 65536, math.MaxFloat32, -math.MaxFloat32)
	for _, set := range available() {
		for _, dtype := range []DType{Float16, BFloat16} {
			for i, got := range converted(t, set, dtype, numbers) {
				if want := dtype.half(numbers[i]); got != want {
					t.Errorf("%s, %d: %g becomes %#04x, not %#04x", set, dtype, numbers[i], got, want)
				}
			}
		}
	}
}

// TestHalvesOfNoNumbers has samples that are too large, or not a number.
func TestHalvesOfNoNumbers(t *testing.T) {
	values := Affine{[]float64{3e38, -3e38, 0}, []float64{0, 0, math.NaN()}}
	for _, set := range available() {
		for _, dtype := range []DType{Float16, BFloat16} {
			w := form{3, dtype, ChannelsLast, &values}.writer(t, set)
			dst := make([]byte, 6)
			if err := w.Write(dst, Picture{[]byte{255, 255, 255}, 3, 1, 1, 3, false}, false, false); err != nil {
				t.Fatal(err)
			}
			quiet := map[DType]uint16{Float16: 0x7e00, BFloat16: 0x7fc0}[dtype]
			infinite := map[DType]uint16{Float16: 0x7c00, BFloat16: 0x7f80}[dtype]
			if got := sixteenBits(dst); got[0] != infinite || got[1] != infinite|1<<15 || got[2]&^(1<<15) != quiet {
				t.Errorf("%s, %d: %#04x", set, dtype, got)
			}
		}
	}
}

// TestHalvesAreRoundedFloats wants everything that is written to be Float32's, rounded.
func TestHalvesAreRoundedFloats(t *testing.T) {
	forEach(t, func(t *testing.T, f form, w *Writer) {
		if f.dtype != Float16 && f.dtype != BFloat16 {
			return
		}
		exact := form{f.channels, Float32, f.layout, f.values}.writer(t, w.instructions)
		compare := func(width, height int, write func(w *Writer, dst []byte) error) {
			t.Helper()
			got, floats := make([]byte, w.Bytes(width, height)), make([]byte, exact.Bytes(width, height))
			if err := write(w, got); err != nil {
				t.Fatal(err)
			}
			if err := write(exact, floats); err != nil {
				t.Fatal(err)
			}
			var want []byte
			for i := range len(floats) / 4 {
				want = binary.LittleEndian.AppendUint16(want, f.dtype.half(float32(Float32.float64(floats, i))))
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%d by %d: differs", width, height)
			}
		}
		random := rand.New(rand.NewPCG(63, 64))
		var scratch Scratch
		for range 20 {
			x, y := randomAxis(random), randomAxis(random)
			src := randomPicture(random, x.Input, y.Input, f.channels)
			for _, r := range []Resampling{{Bilinear, true, LikeKeras}, {Bilinear, true, LikePillow}} {
				compare(x.Count, y.Count, func(w *Writer, dst []byte) error {
					return w.Resample(&scratch, dst, src, image.Point{}, x, y, r, true, false)
				})
			}
			warp, output := randomWarp(random)
			src = randomPicture(random, warp.Input.X, warp.Input.Y, f.channels)
			compare(output.X, output.Y, func(w *Writer, dst []byte) error {
				return w.Warp(&scratch, dst, src, image.Point{}, warp, image.Rectangle{Max: output}, false, true)
			})
		}
		src := randomPicture(random, 1100, 3, f.channels) // in three parts
		compare(src.Width, src.Height, func(w *Writer, dst []byte) error { return w.Write(dst, src, true, true) })
	})
}
