package loader

import (
	"encoding/json"
	"errors"
	"os"
	"sync"
	"testing"
	"unsafe"
)

func TestGoroutinesShareAPreprocessor(t *testing.T) {
	list := pictures(t, 10)
	s := spec()
	s.Ops = []json.RawMessage{json.RawMessage(`{"op":"CenterCrop","height":16,"width":16}`)}
	p, err := NewPreprocessor(s)
	if err != nil {
		t.Fatal(err)
	}
	images := p.Arrays()[0]
	level := func(address uintptr) byte {
		memory := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&address))), images.Offset+1)
		return memory[images.Offset]
	}
	var group sync.WaitGroup
	for start := range 4 {
		group.Go(func() {
			for i := start; i < 40; i += 4 {
				path := list.Path(i % 10)
				content, err := os.ReadFile(path)
				if err != nil {
					t.Error(err)
				}
				for range 2 {
					address, err := p.Bytes(content)
					if i%3 == 0 {
						address, err = p.File(path)
					}
					if err != nil {
						t.Error(err)
					} else if got := level(address); got != byte(10*(i%10)) {
						t.Errorf("%s has level %d", path, got)
					}
				}
			}
		})
	}
	group.Wait()
	var ofSample *SampleError
	if _, err := p.Bytes(nil); !errors.As(err, &ofSample) || ofSample.Path != InMemory || ofSample.Index != noSample {
		t.Errorf("no content: %v", err)
	}
	if _, err := p.File("gone.jpg"); !errors.Is(err, ErrRead) {
		t.Errorf("no file: %v", err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := p.Bytes(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
