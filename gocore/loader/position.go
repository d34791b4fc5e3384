package loader

import "fmt"

// Position is where an epoch begins, and with the seed the whole state of a run: the order is a keyed permutation, so
// that nothing has to be done for the batches before.
type Position struct {
	Epoch int64 // counted from 0
	Batch int64 // the first one that is handed over
	// Tail is the place in the epoch's order from which on all samples are used up, in place of bad ones of the batches
	// before; -1 where none was. A batch's slab holds the one after it.
	Tail int64
}

// NextEpoch begins the epoch after the last one that was begun.
var NextEpoch = Position{Epoch: -1, Batch: 0, Tail: -1}

func (p *plan) check(at Position) error {
	switch {
	case at.Epoch < 0:
		return configError(fmt.Sprintf("epoch %d: expected at least 0", at.Epoch))
	case at.Batch < 0 || at.Batch > p.batches:
		return configError(fmt.Sprintf("batch %d: expected 0 to %d", at.Batch, p.batches))
	case at.Tail != -1 && !p.skips():
		return configError("a tail is for an epoch that leaves bad samples out")
	case at.Tail < -1 || at.Tail > p.available:
		return configError(fmt.Sprintf("tail %d: expected -1 to %d", at.Tail, p.available))
	}
	return nil
}
