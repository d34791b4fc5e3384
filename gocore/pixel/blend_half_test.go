package pixel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func TestBlendOfHalves(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, dtype := range []DType{Float16, BFloat16} {
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
				blend(dtype, got, y, weight, set)
				for i, bits := range sixteenBits(got) {
					a, b := dtype.float64(x, i), dtype.float64(y, i)
					want := blended(float32(a), float32(b), weight)
					if math.IsNaN(float64(want)) {
						if !math.IsNaN(dtype.float64(got, i)) {
							t.Fatalf("%v: %v and %v by %v are %#04x", set, a, b, weight, bits)
						}
					} else if bits != dtype.half(want) {
						t.Fatalf("%v: %v and %v by %v are %#04x, want the nearest to %v", set, a, b, weight, bits, want)
					}
				}
			}
		}
	}
}
