package pixel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// blended is one sample by the definition, in Go's float32.
func blended(x, y, weight float32) float32 { return float32(weight*x) + float32(float32(1-weight)*y) }

func nearest(x float32) int { return int(math.Floor(float64(x + 0.5))) }

func TestBlendOfEveryPairOfBytes(t *testing.T) {
	x, y := make([]byte, 1<<16), make([]byte, 1<<16)
	for i := range x {
		x[i], y[i] = byte(i), byte(i>>8)
	}
	for _, weight := range []float32{0, 1e-6, 0.1, 0.3, 0.5, 0.7, 1 - 1e-6, 1} {
		for _, set := range available() {
			got := bytes.Clone(x)
			blend(Uint8, got, y, weight, set)
			for i := range got {
				if want := nearest(blended(float32(x[i]), float32(y[i]), weight)); int(got[i]) != want {
					t.Fatalf("%v: %d and %d by %v are %d, want %d", set, x[i], y[i], weight, got[i], want)
				}
			}
		}
	}
}

func TestBlendOfUint16AndFloat32(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for count := range 70 { // with and without a rest after the last vector
		x, y := randomBytes(random, 4*count), randomBytes(random, 4*count)
		for i := range count {
			value := math.Float32bits(float32(random.NormFloat64()))
			binary.LittleEndian.PutUint32(y[4*i:], value)
			binary.LittleEndian.PutUint32(x[4*i:], value^uint32(random.IntN(1<<24)))
		}
		weight := random.Float32()
		for _, set := range available() {
			words, floats := bytes.Clone(x), bytes.Clone(x)
			blend(Uint16, words, y, weight, set)
			blend(Float32, floats, y, weight, set)
			for i := range 2 * count {
				a, b := binary.LittleEndian.Uint16(x[2*i:]), binary.LittleEndian.Uint16(y[2*i:])
				if got, want := binary.LittleEndian.Uint16(words[2*i:]), nearest(blended(float32(a), float32(b), weight)); int(got) != want {
					t.Fatalf("%v: %d and %d by %v are %d, want %d", set, a, b, weight, got, want)
				}
			}
			for i := range count {
				a, b := math.Float32frombits(binary.LittleEndian.Uint32(x[4*i:])), math.Float32frombits(binary.LittleEndian.Uint32(y[4*i:]))
				if got, want := math.Float32frombits(binary.LittleEndian.Uint32(floats[4*i:])), blended(a, b, weight); got != want {
					t.Fatalf("%v: %v and %v by %v are %v, want %v", set, a, b, weight, got, want)
				}
			}
		}
	}
}
