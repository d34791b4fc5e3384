package loader

// #include "native.h"
import "C"

// Hosts is how many threads of the caller's have to call Host: workers that call Python functions run in those.
func (l *Loader) Hosts() int { return cap(l.hosts) }

// Host makes a worker of the calling thread, until the loader is closed. The C function at the address is given the
// function's place in the list of operations, the call, its slot and its area, or for whole batches the slab's address;
// it finishes the call before it returns.
func (l *Loader) Host(function uint64) error {
	return l.host(func(position int, call Call) {
		C.tgl_host(C.uint64_t(function), C.int64_t(position), C.int64_t(call.ID), C.int64_t(call.Slot), C.int64_t(call.Area))
	})
}

func (l *Loader) host(visit func(position int, call Call)) error {
	select {
	case w := <-l.hosts:
		w.call = visit
		return w.run()
	default:
		if l.ctx.Err() != nil {
			return ErrClosed
		}
		return configError("no worker is left to be hosted")
	}
}
