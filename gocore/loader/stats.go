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
	// Functions are the operations of somebody else's, in the order of the list.
	Functions []FunctionStats `json:"functions"`
}

// FunctionStats is what an operation of somebody else's has done; seconds are summed over calls.
type FunctionStats struct {
	Name       string  `json:"name"`
	Position   int     `json:"position"` // in the list of operations
	Calls      int64   `json:"calls"`
	Seconds    float64 `json:"seconds"`     // from when it is given a picture until it gives it back
	CPUSeconds float64 `json:"cpu_seconds"` // of a Python function's thread in these
	Waiting    float64 `json:"waiting"`     // pictures that were ready, for somebody to call a Python function
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
	functions := make([]FunctionStats, len(l.stations))
	for i, s := range l.stations {
		functions[i] = FunctionStats{
			s.op.Name, s.op.Position, s.calls.Load(), seconds(&s.busy), seconds(&s.cpu), seconds(&s.waiting),
		}
	}
	c := &l.counters
	return Stats{
		Functions: functions,
		Images:    c.images.Load(), Bytes: c.bytes.Load(), Batches: c.batches.Load(), Taken: c.taken.Load(), QueueDepth: depth,
		Pixels:  Pixels{Stored: c.stored.Load(), Decoded: c.decoded.Load()},
		Seconds: Seconds{Read: seconds(&c.read), Decode: seconds(&c.decode), Augment: seconds(&c.augment), Wait: seconds(&c.wait)},
	}
}
