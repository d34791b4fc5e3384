package sample

import (
	"encoding/binary"
	"math/rand/v2"
)

// Draw gives the random numbers of one operation for one sample, and is used again for the next
// without allocation. The zero value is ready; a Draw serves one goroutine and must not be copied.
type Draw struct {
	source    rand.ChaCha8
	generator *rand.Rand
}

// Reset starts the stream that belongs to (seed, epoch, index, op): index is the sample's place in
// its source, op the place of the operation in the pipeline. The same four values give the same
// numbers on every machine; streams of different values are independent. What it returns is valid
// until the next Reset.
func (d *Draw) Reset(seed uint64, epoch, index int64, op int) *rand.Rand {
	if d.generator == nil {
		d.generator = rand.New(&d.source)
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(epoch))
	binary.LittleEndian.PutUint64(key[16:], uint64(index))
	binary.LittleEndian.PutUint64(key[24:], uint64(int64(op)))
	d.source.Seed(key)
	return d.generator
}

// Random is Draw.Reset on a Draw of its own.
func Random(seed uint64, epoch, index int64, op int) *rand.Rand {
	return new(Draw).Reset(seed, epoch, index, op)
}
