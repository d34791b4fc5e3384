package pybind

import (
	"encoding/json"
	"fmt"
	"unsafe"

	"tfgoloader/gocore/loader"
)

// OpenPreprocess makes what prepares single pictures as a loader's specification says, and gives a handle.
func OpenPreprocess(spec string) (handle int64, err error) {
	defer recovered(&err)
	var s loader.Spec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return 0, failure(fmt.Errorf("%w: %w", loader.ErrConfig, err))
	}
	p, err := loader.NewPreprocessor(s)
	if err != nil {
		return 0, failure(err)
	}
	return handles.add(p), nil
}

// Preprocess makes one picture, of a file or, where its path is empty, of so many bytes at an address, which are not
// kept. It gives the address of a slab, one reference to which is the caller's.
func Preprocess(preprocessHandle int64, path string, content uint64, size int64) (address uint64, err error) {
	defer recovered(&err)
	p, err := get[*loader.Preprocessor](preprocessHandle)
	if err != nil {
		return 0, failure(err)
	}
	var slab uintptr
	switch {
	case path != "":
		slab, err = p.File(fileName(path))
	case size < 0:
		err = fmt.Errorf("%w: a content of %d bytes", loader.ErrConfig, size)
	case size == 0:
		slab, err = p.Bytes(nil)
	default:
		// The address is none of Go's, so that there is nothing for the collector to move.
		slab, err = p.Bytes(unsafe.Slice(*(**byte)(unsafe.Pointer(&content)), size))
	}
	if err != nil {
		return 0, failure(err)
	}
	return uint64(slab), nil
}
