package loader

import (
	"sync/atomic"
	"time"
)

// counters grow over the life of a loader; the workers add to them without a lock.
type counters struct {
	images, bytes, batches      atomic.Int64
	taken                       atomic.Int64 // images of the batches that the user took
	stored, decoded             atomic.Int64 // pixels
	read, decode, augment, wait atomic.Int64 // nanoseconds
}

// Stats is a snapshot of what a loader has done. The seconds of read, decode and augment are summed over the
// workers, those of wait over the callers that found no batch ready.
type Stats struct {
	Images     int64   `json:"images"`
	Bytes      int64   `json:"bytes"`
	Batches    int64   `json:"batches"`
	Taken      int64   `json:"images_taken"` // of these batches
	Pixels     Pixels  `json:"pixels"`
	Seconds    Seconds `json:"seconds"`
	QueueDepth int     `json:"queue_depth"` // batches that are ready and not taken
}

// Pixels tells how much of the pictures had to be decoded: all but the window of a JPEG can be left out.
type Pixels struct {
	Stored  int64 `json:"stored"`
	Decoded int64 `json:"decoded"`
}

// Seconds is where the time went, stage by stage.
type Seconds struct {
	Read    float64 `json:"read"`
	Decode  float64 `json:"decode"`
	Augment float64 `json:"augment"`
	Wait    float64 `json:"wait"`
}

func seconds(nanoseconds *atomic.Int64) float64 {
	return time.Duration(nanoseconds.Load()).Seconds()
}

// Stats counts images handed out by the workers and batches taken by the user.
func (l *Loader) Stats() Stats {
	l.mu.Lock()
	depth := 0
	for _, epoch := range l.epochs {
		depth += int(epoch.settled - epoch.mixing - epoch.taken)
	}
	l.mu.Unlock()
	c := &l.counters
	return Stats{
		Images: c.images.Load(), Bytes: c.bytes.Load(), Batches: c.batches.Load(), Taken: c.taken.Load(), QueueDepth: depth,
		Pixels:  Pixels{Stored: c.stored.Load(), Decoded: c.decoded.Load()},
		Seconds: Seconds{Read: seconds(&c.read), Decode: seconds(&c.decode), Augment: seconds(&c.augment), Wait: seconds(&c.wait)},
	}
}
