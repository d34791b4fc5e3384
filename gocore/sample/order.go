// Package sample decides which sample comes when, and which random numbers its operations see.
//
// Everything here is a pure function of (seed, epoch, ...): there is no shuffle buffer and no shared
// generator, so a run can start at any position and no result depends on threads or timing.
package sample

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// orderDomain keeps the keys of an Order apart from every stream of a Draw. The bytes are part of
// the saved state and must never change.
const orderDomain = "tfgoloader order"

// Order is the order of the samples of one epoch: a permutation of [0, n) that is computed position
// by position and takes the same few kilobytes for every n. It is read only after NewOrder and may
// be shared by goroutines.
//
// With shuffle it is the "swap-or-not" shuffle of Hoang, Morris and Rogaway ("An Enciphering Scheme
// Based on a Card Shuffle", CRYPTO 2012).
type Order struct {
	n      uint64
	rounds []round
}

// round pairs x with (shift - x) mod n; key says which of the pairs are swapped.
type round struct {
	shift, key uint64
}

// NewOrder gives the order of n samples in the given epoch: the identity without shuffle, else a
// permutation keyed by seed and epoch. It panics if n is negative.
func NewOrder(n int64, shuffle bool, seed uint64, epoch int64) *Order {
	if n < 0 {
		panic(fmt.Sprintf("sample: order of %d samples", n))
	}
	order := &Order{n: uint64(n)}
	if !shuffle || n < 2 {
		return order
	}

	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(epoch))
	copy(key[16:], orderDomain)
	keys := rand.NewChaCha8(key)

	order.rounds = make([]round, roundCount(order.n))
	for i := range order.rounds {
		// The high word of the product is uniform in [0, n) to within n / 2^64.
		shift, _ := bits.Mul64(keys.Uint64(), order.n)
		order.rounds[i] = round{shift: shift, key: keys.Uint64()}
	}
	return order
}

// roundCount is 6 log2(n), for which the distance from a random permutation falls with every added
// round, and a constant for the small n: with it, the exact total variation distance (summed over all
// permutations for n of 2 to 7) is below 1e-10.
func roundCount(n uint64) int {
	return 32 + 6*bits.Len64(n)
}

// At gives the index of the sample at a position of the epoch. It panics if position is not in [0, n).
func (o *Order) At(position int64) int64 {
	x := uint64(position)
	if x >= o.n {
		panic(fmt.Sprintf("sample: position %d of %d", position, o.n))
	}
	for _, r := range o.rounds {
		// Masks in place of branches, which would be predicted wrong half of the time.
		partner := r.shift - x
		partner += o.n & signMask(partner)
		x ^= (x ^ partner) & signMask(mix(max(x, partner)+r.key))
	}
	return int64(x)
}

// mix spreads every bit of x over the high bits of the result; its constants are those of SplitMix64.
func mix(x uint64) uint64 {
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 32
	return x * 0x94d049bb133111eb
}

// signMask is all ones if the highest bit of x is set, else zero.
func signMask(x uint64) uint64 {
	return uint64(int64(x) >> 63)
}
