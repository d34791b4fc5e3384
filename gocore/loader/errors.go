package loader

import (
	"errors"
	"fmt"
	"syscall"
)

var (
	// ErrConfig is a specification that cannot work.
	ErrConfig = errors.New("invalid configuration")
	// ErrClosed is the use of a loader after Close.
	ErrClosed = errors.New("the loader is closed")
	// ErrPending says that the next batch is not ready yet.
	ErrPending = errors.New("the next batch is not ready")
	// ErrEnd says that the epoch is over.
	ErrEnd = errors.New("the epoch is over")
	// ErrRead is a file that cannot be read.
	ErrRead = errors.New("cannot read")
	// ErrMemory is that there is none left for a batch; decoders have the same error for pictures.
	ErrMemory = error(syscall.ENOMEM)
	// ErrFunction is what went wrong in a function of the user's, or in what it gave back.
	ErrFunction = errors.New("function")
	// ErrPanic is a defect in the core, met while one sample was worked on.
	ErrPanic = errors.New("internal error")
)

// SampleError is what went wrong with one sample: a wrapped ErrRead, ErrPanic, or a decoder's error.
type SampleError struct {
	Path  string
	Index int64 // in the source, or noSample
	Err   error
}

const noSample = -1

func (e *SampleError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }
func (e *SampleError) Unwrap() error { return e.Err }

// FunctionError is what the caller of a Python function said of it: a wrapped ErrFunction.
type FunctionError struct {
	Call   int64
	Reason string
}

func (e *FunctionError) Error() string { return e.Reason }
func (e *FunctionError) Unwrap() error { return ErrFunction }

func configError(reason string) error { return fmt.Errorf("%w: %s", ErrConfig, reason) }
