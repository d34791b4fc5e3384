package sample

import (
	"math"
	"slices"
	"sync"
	"testing"
)

// all lists the order of a whole epoch.
func all(o *Order) []int64 {
	out := make([]int64, o.n)
	for i := range out {
		out[i] = o.At(int64(i))
	}
	return out
}

func isPermutation(order []int64) bool {
	seen := make([]bool, len(order))
	for _, index := range order {
		if index < 0 || index >= int64(len(order)) || seen[index] {
			return false
		}
		seen[index] = true
	}
	return true
}

// chiSquareLimit is about the value that chi-square with so many degrees of freedom exceeds once in
// a million (Wilson and Hilferty's approximation). The seeds are fixed: a test passes always or never.
func chiSquareLimit(degrees int) float64 {
	k := float64(degrees)
	root := 1 - 2/(9*k) + 4.75*math.Sqrt(2/(9*k))
	return k * root * root * root
}

func chiSquare(counts []int) float64 {
	total := 0
	for _, count := range counts {
		total += count
	}
	expected := float64(total) / float64(len(counts))
	sum := 0.0
	for _, count := range counts {
		sum += (float64(count) - expected) * (float64(count) - expected) / expected
	}
	return sum
}

func checkUniform(t *testing.T, what string, counts []int) {
	t.Helper()
	if got, limit := chiSquare(counts), chiSquareLimit(len(counts)-1); got > limit {
		t.Errorf("%s: chi-square %.1f in %d cells, limit %.1f", what, got, len(counts), limit)
	}
}

func TestOrderIsABijection(t *testing.T) {
	sizes := []int64{255, 256, 257, 1000, 1023, 1024, 1025, 4097, 65536, 99991}
	for n := int64(0); n <= 130; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for seed := range uint64(3) {
			if order := all(NewOrder(n, true, seed, 5)); !isPermutation(order) {
				t.Fatalf("n %d, seed %d: not a permutation", n, seed)
			}
		}
	}
}

func TestOrderWithoutShuffleIsTheIdentity(t *testing.T) {
	order := NewOrder(1000, false, 7, 3)
	for i := range int64(1000) {
		if order.At(i) != i {
			t.Fatalf("At(%d) = %d", i, order.At(i))
		}
	}
}

func TestOrderHoldsAtTheLargestSize(t *testing.T) {
	order := NewOrder(math.MaxInt64, true, 1, 0)
	seen := map[int64]bool{}
	for i := range int64(1000) {
		for _, position := range []int64{i, math.MaxInt64 - 1 - i} {
			index := order.At(position)
			if index < 0 || index == math.MaxInt64 || seen[index] {
				t.Fatalf("At(%d) = %d", position, index)
			}
			seen[index] = true
		}
	}
}

// The paper describes the shuffle as dealt cards; done that way, on a whole deck, it must agree.
func TestOrderIsTheSwapOrNotShuffle(t *testing.T) {
	for _, n := range []int{2, 3, 10, 101, 256} {
		order := NewOrder(int64(n), true, 42, 1)
		place := make([]int, n) // where the card that began at i lies
		for i := range place {
			place[i] = i
		}
		for _, r := range order.rounds {
			for i, x := range place {
				partner := (int(r.shift) - x + n) % n
				if mix(uint64(max(x, partner))+r.key)&(1<<63) != 0 {
					place[i] = partner
				}
			}
		}
		for i, want := range place {
			if got := order.At(int64(i)); got != int64(want) {
				t.Fatalf("n %d: At(%d) = %d, want %d", n, i, got, want)
			}
		}
	}
}

// The order is part of a saved state: these values must never change.
func TestOrderGolden(t *testing.T) {
	ten := NewOrder(10, true, 7, 0)
	big := NewOrder(1_281_167, true, 1<<63+5, 89)
	var got []int64
	for i := range int64(10) {
		got = append(got, ten.At(i))
	}
	for i := range int64(6) {
		got = append(got, big.At(i*256_233))
	}
	want := []int64{
		7, 6, 8, 0, 3, 2, 5, 4, 9, 1,
		263_511, 146_513, 165_184, 1_132_266, 766_259, 517_040,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestOrderPanicsOutsideItsRange(t *testing.T) {
	for name, call := range map[string]func(){
		"negative n":        func() { NewOrder(-1, true, 0, 0) },
		"empty":             func() { NewOrder(0, true, 0, 0).At(0) },
		"at n":              func() { NewOrder(10, true, 0, 0).At(10) },
		"negative position": func() { NewOrder(10, false, 0, 0).At(-1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

// Every permutation of four and of five samples must be as likely as any other, whether the seed or
// the epoch is what changes.
func TestOrderAllPermutationsAreEquallyLikely(t *testing.T) {
	const trials = 30_000
	for _, n := range []int64{2, 3, 4, 5} {
		bySeed := map[string]int{}
		byEpoch := map[string]int{}
		name := make([]byte, n)
		count := func(counts map[string]int, order *Order) {
			for i := range n {
				name[i] = '0' + byte(order.At(i))
			}
			counts[string(name)]++
		}
		for trial := range trials {
			count(bySeed, NewOrder(n, true, uint64(trial), 0))
			count(byEpoch, NewOrder(n, true, 0, int64(trial)))
		}
		permutations := 1
		for i := range int(n) {
			permutations *= i + 1
		}
		for what, counts := range map[string]map[string]int{"seed": bySeed, "epoch": byEpoch} {
			cells := make([]int, 0, permutations)
			for _, c := range counts {
				cells = append(cells, c)
			}
			cells = append(cells, make([]int, permutations-len(cells))...)
			checkUniform(t, what, cells)
		}
	}
}

func TestOrderPairsOfAThousand(t *testing.T) {
	const n, epochs, cells = 1000, 250, 10
	places := make([]int, cells*cells)     // position and index, in tenths
	neighbours := make([]int, cells*cells) // indices at positions i and i + 1, in tenths
	distant := make([]int, cells*cells)    // indices at positions i and i + n/2, in tenths
	adjacent, fixed, repeated := 0, 0, 0
	var previous []int64
	for epoch := range int64(epochs) {
		order := all(NewOrder(n, true, 11, epoch))
		for i, index := range order {
			tenth := int(index) / (n / cells)
			places[i/(n/cells)*cells+tenth]++
			if i%2 == 0 { // disjoint pairs
				neighbours[tenth*cells+int(order[i+1])/(n/cells)]++
			}
			if i < n/2 {
				distant[tenth*cells+int(order[i+n/2])/(n/cells)]++
			}
			if i > 0 && (index-order[i-1] == 1 || order[i-1]-index == 1) {
				adjacent++
			}
			if index == int64(i) {
				fixed++
			}
			if previous != nil && previous[i] == index {
				repeated++
			}
		}
		previous = order
	}
	checkUniform(t, "position and index", places)
	checkUniform(t, "neighbours", neighbours)
	checkUniform(t, "distant pairs", distant)

	// Counts of rare events: about Poisson, so within five standard deviations of their mean.
	for _, event := range []struct {
		name string
		got  int
		mean float64
	}{
		{"neighbours that were neighbours", adjacent, epochs * 2 * (n - 1.0) / n},
		{"samples at their own place", fixed, epochs},
		{"samples at the place of the last epoch", repeated, epochs - 1},
	} {
		if math.Abs(float64(event.got)-event.mean) > 5*math.Sqrt(event.mean) {
			t.Errorf("%s: %d, expected about %.0f", event.name, event.got, event.mean)
		}
	}
}

// A round keeps x or turns it round, so few rounds leave few values of index - position. There must be as
// many as in a random permutation, n (1 - 1/e).
func TestOrderOfManyHasManyDistances(t *testing.T) {
	const n = 50_021
	order := NewOrder(n, true, 5, 0)
	distances := map[int64]bool{}
	for i := range int64(n) {
		distances[(order.At(i)-i+n)%n] = true
	}
	if got, want := float64(len(distances)), n*(1-1/math.E); math.Abs(got-want) > 5*math.Sqrt(n)/2 {
		t.Errorf("%.0f distances, expected about %.0f", got, want)
	}
}

func TestOrderDiffersBySeedAndEpoch(t *testing.T) {
	base := all(NewOrder(1000, true, 1, 2))
	if !slices.Equal(base, all(NewOrder(1000, true, 1, 2))) {
		t.Error("the same seed and epoch gave two orders")
	}
	for name, other := range map[string]*Order{
		"seed":        NewOrder(1000, true, 2, 2),
		"epoch":       NewOrder(1000, true, 1, 3),
		"exchanged":   NewOrder(1000, true, 2, 1),
		"high bit":    NewOrder(1000, true, 1|1<<63, 2),
		"below zero":  NewOrder(1000, true, 1, -2),
		"one sample+": NewOrder(1001, true, 1, 2),
	} {
		same := 0
		for i, index := range base {
			if other.At(int64(i)) == index {
				same++
			}
		}
		if same > 10 { // mean 1 for unrelated orders
			t.Errorf("%s: %d of 1000 samples at the same place", name, same)
		}
	}
}

func TestOrderIsSharedByGoroutines(t *testing.T) {
	const n = 20_000
	order := NewOrder(n, true, 3, 1)
	want := all(order)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if !slices.Equal(all(order), want) {
				t.Error("a goroutine saw another order")
			}
		})
	}
	group.Wait()
}

func BenchmarkNewOrder(b *testing.B) {
	for b.Loop() {
		NewOrder(10_000_000, true, 7, 1)
	}
}

func BenchmarkOrderAt(b *testing.B) {
	order := NewOrder(10_000_000, true, 7, 1)
	position := int64(0)
	for b.Loop() {
		order.At(position)
		position = (position + 1) % 10_000_000
	}
}
