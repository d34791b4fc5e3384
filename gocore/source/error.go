package source

import (
	"errors"
	"fmt"
	"syscall"
)

// What Error.Err is where no call of the operating system failed.
var (
	ErrNoImages   = errors.New("no image files found")
	ErrClassNames = errors.New("class names do not match the folders")
	ErrRow        = errors.New("wrong row in a list file")
	ErrNoSamples  = errors.New("no samples")
	ErrLabelCount = errors.New("paths and labels differ in number")
)

// Error is every failure of this package: the file or folder, why, and the cause.
type Error struct {
	Path   string // the bytes of the name, not always UTF-8
	Reason string
	Err    error
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

func (e *Error) Unwrap() error { return e.Err }

// fail makes the Error of one of the sentinel values above.
func fail(path string, sentinel error, format string, args ...any) *Error {
	return &Error{Path: path, Reason: fmt.Sprintf(format, args...), Err: sentinel}
}

// systemError keeps the operating system's own words for the reason, without the name of the call.
func systemError(path string, err error) *Error {
	reason := err.Error()
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		reason = errno.Error()
	}
	return &Error{Path: path, Reason: reason, Err: err}
}
