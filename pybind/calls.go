package pybind

import (
	"time"

	"tfgoloader/gocore/loader"
)

// Hosts gives how many threads of the caller's have to call Host.
func Hosts(loaderHandle int64) (count int64, err error) {
	defer recovered(&err)
	l, err := get[*loader.Loader](loaderHandle)
	if err != nil {
		return 0, failure(err)
	}
	return int64(l.Hosts()), nil
}

// Host makes a worker of the calling thread, until the loader is closed. For every sample it calls the C function at an
// address, void (int64_t position, int64_t call, int64_t slot, int64_t area), which finishes the call.
func Host(loaderHandle int64, function uint64) (err error) {
	defer recovered(&err)
	l, err := get[*loader.Loader](loaderHandle)
	if err != nil {
		return failure(err)
	}
	if err := l.Host(function); err != nil {
		return failure(err)
	}
	return nil
}

// OpenArea gives a new file descriptor, the caller's, of the memory that a call is about.
func OpenArea(loaderHandle, call int64) (fd int64, err error) {
	defer recovered(&err)
	l, err := get[*loader.Loader](loaderHandle)
	if err != nil {
		return 0, failure(err)
	}
	descriptor, err := l.OpenArea(call)
	if err != nil {
		return 0, failure(err)
	}
	return int64(descriptor), nil
}

// FinishCall says that the function is done: how many nanoseconds of a processor it took, and what went wrong, if
// anything did.
func FinishCall(loaderHandle, call, cpu int64, reason string) (err error) {
	defer recovered(&err)
	l, err := get[*loader.Loader](loaderHandle)
	if err != nil {
		return failure(err)
	}
	l.FinishCall(call, time.Duration(cpu), fileName(reason))
	return nil
}
