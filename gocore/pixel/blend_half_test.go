package pixel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// float16 is what the bits stand for, by IEEE 754.
func float16(bits uint16) float64 {
	fraction, exponent := float64(bits&0x3ff), int(bits>>10&0x1f)
	value := math.Ldexp(fraction, -24)
	switch {
	case exponent == 0x1f && fraction == 0:
		value = math.Inf(1)
	case exponent == 0x1f:
		value = math.NaN()
	case exponent > 0:
		value = math.Ldexp(1024+fraction, exponent-25)
	}
	return math.Copysign(value, 1-2*float64(bits>>15))
}

func bfloat16(bits uint16) float64 { return float64(math.Float32frombits(uint32(bits) << 16)) }

// isNearest says whether no neighbour is nearer to a finite value, nor as near and even.
func isNearest(bits uint16, value float64, number func(uint16) float64) bool {
	distance := math.Abs(number(bits) - value)
	for _, neighbour := range []uint16{bits - 1, bits + 1} {
		if (neighbour^bits)>>15 != 0 { // beyond 0, or no number
			continue
		}
		other := math.Abs(number(neighbour) - value)
		if other < distance || other == distance && bits%2 == 1 {
			return false
		}
	}
	return true
}

func TestBlendOfHalves(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	kinds := []struct {
		dtype  DType
		number func(uint16) float64
	}{{Float16, float16}, {BFloat16, bfloat16}}
	for _, kind := range kinds {
		for _, weight := range []float32{0.5, 0.25, 0.1, 0.93, 1e-4} {
			// Every number, then any two of them, in a length that leaves a rest after the last vector.
			const count = 1<<16 + 1000 + 3
			x, y := make([]byte, 2*count), make([]byte, 2*count)
			for i := range count {
				a, b := uint16(i), uint16(0)
				if i >= 1<<16 {
					a, b = uint16(random.Uint32()), uint16(random.Uint32())
				}
				binary.LittleEndian.PutUint16(x[2*i:], a)
				binary.LittleEndian.PutUint16(y[2*i:], b)
			}
			for _, set := range available() {
				got := bytes.Clone(x)
				blend(kind.dtype, got, y, weight, set)
				for i := range count {
					a := kind.number(binary.LittleEndian.Uint16(x[2*i:]))
					b := kind.number(binary.LittleEndian.Uint16(y[2*i:]))
					want := float64(blended(float32(a), float32(b), weight))
					bits := binary.LittleEndian.Uint16(got[2*i:])
					is := kind.number(bits)
					switch {
					case math.IsNaN(want):
						if !math.IsNaN(is) {
							t.Fatalf("%v: %v and %v by %v are %v", set, a, b, weight, is)
						}
					case math.IsInf(want, 0):
						if is != want {
							t.Fatalf("%v: %v and %v by %v are %v", set, a, b, weight, is)
						}
					case !isNearest(bits, want, kind.number):
						t.Fatalf("%v: %v and %v by %v are %v, want the nearest to %v", set, a, b, weight, is, want)
					}
				}
			}
		}
	}
}
