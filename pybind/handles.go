package pybind

import (
	"fmt"
	"io"
	"sync"

	"tfgoloader/gocore/loader"
)

// table holds what Python has handles of. A handle is never used again, so a stale one finds nothing.
type table struct {
	mu      sync.Mutex
	last    int64
	entries map[int64]any
}

var handles = table{entries: map[int64]any{}}

func (t *table) add(v any) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.entries[t.last] = v
	return t.last
}

func (t *table) close(handle int64) error {
	t.mu.Lock()
	v := t.entries[handle]
	delete(t.entries, handle)
	t.mu.Unlock()
	if c, ok := v.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func get[T any](handle int64) (T, error) {
	handles.mu.Lock()
	v, found := handles.entries[handle]
	handles.mu.Unlock()
	t, ok := v.(T)
	switch {
	case !found:
		return t, loader.ErrClosed
	case !ok:
		return t, fmt.Errorf("%w: handle %d is a %T", loader.ErrConfig, handle, v)
	}
	return t, nil
}
