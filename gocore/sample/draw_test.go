package sample

import (
	"math"
	"math/bits"
	"testing"
)

// What is drawn decides the pixels of a run that is started again: these values must never change,
// those of math/rand/v2's methods on the stream included.
func TestDrawGolden(t *testing.T) {
	var draw Draw
	random := draw.Reset(7, 1, 123_456, 2)
	if got, want := [...]uint64{random.Uint64(), random.Uint64(), random.Uint64()}, [...]uint64{0x4449aebe45af967c, 0xfffdfc5b4420d309, 0xab257e914637711c}; got != want {
		t.Errorf("Uint64: got %#v, want %#v", got, want)
	}
	if got, want := [...]float64{random.Float64(), random.Float64()}, [...]float64{0.7576106816009686, 0.3736871114919864}; got != want {
		t.Errorf("Float64: got %#v, want %#v", got, want)
	}
	if got, want := [...]int{random.IntN(2), random.IntN(10), random.IntN(1000), random.IntN(1 << 40)}, [...]int{0, 4, 333, 1_022_581_587_984}; got != want {
		t.Errorf("IntN: got %#v, want %#v", got, want)
	}
}

func TestDrawIsAPureFunction(t *testing.T) {
	var draw Draw
	for range 50 { // leave it in the middle of a block
		draw.Reset(1, 2, 3, 4).Uint32()
	}
	again, own := draw.Reset(9, 8, 7, 6), Random(9, 8, 7, 6)
	for i := range 100 {
		if a, b := again.Uint64(), own.Uint64(); a != b {
			t.Fatalf("number %d: %#x after use, %#x on its own", i, a, b)
		}
	}
}

// Changing any one of the four values, however little, must change half of the bits.
func TestDrawStreamsAreIndependent(t *testing.T) {
	const trials = 2000
	var one, other Draw
	for name, change := range map[string][4]int64{
		"seed":        {1, 0, 0, 0},
		"epoch":       {0, 1, 0, 0},
		"index":       {0, 0, 1, 0},
		"op":          {0, 0, 0, 1},
		"epoch, op":   {0, 1, 0, -1},
		"high bit":    {math.MinInt64, 0, 0, 0},
		"index, seed": {-1, 0, 1, 0},
	} {
		differ := 0
		for trial := range int64(trials) {
			a := one.Reset(uint64(trial), trial, trial, int(trial))
			b := other.Reset(uint64(trial+change[0]), trial+change[1], trial+change[2], int(trial+change[3]))
			differ += bits.OnesCount64(a.Uint64() ^ b.Uint64())
		}
		mean, deviation := 32.0*trials, 4*math.Sqrt(trials)
		if math.Abs(float64(differ)-mean) > 5*deviation {
			t.Errorf("%s: %d bits of %d differ", name, differ, 64*trials)
		}
	}
}

// The first numbers of neighbouring streams, which is what a crop uses, must be uniform together.
func TestDrawIsUniformOverSamples(t *testing.T) {
	const cells, trials = 10, 100_000
	pairs := make([]int, cells*cells)      // first and second number of a sample
	neighbours := make([]int, cells*cells) // first numbers of two samples
	var draw Draw
	last := 0
	for index := range int64(trials) {
		random := draw.Reset(7, 0, index, 0)
		first := int(random.Float64() * cells)
		pairs[first*cells+random.IntN(cells)]++
		if index%2 == 1 {
			neighbours[last*cells+first]++
		}
		last = first
	}
	checkUniform(t, "two numbers of a sample", pairs)
	checkUniform(t, "two samples", neighbours)
}

func TestDrawResetAllocatesNothing(t *testing.T) {
	var draw Draw
	draw.Reset(0, 0, 0, 0)
	index := int64(0)
	if allocations := testing.AllocsPerRun(100, func() {
		index++
		draw.Reset(1, 2, index, 0).Float64()
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func BenchmarkDraw(b *testing.B) {
	var draw Draw
	index := int64(0)
	for b.Loop() {
		index++
		random := draw.Reset(7, 1, index, 0)
		random.IntN(100)
		random.IntN(100)
	}
}
