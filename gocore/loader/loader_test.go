package loader

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"tfgoloader/gocore/source"
)

// pictures makes files whose gray level is ten times their number, which is their label too.
func pictures(t *testing.T, count int) *source.List {
	t.Helper()
	folder := t.TempDir()
	paths, labels := make([]string, count), make([]int64, count)
	for i := range paths {
		picture := image.NewGray(image.Rect(0, 0, 24, 20))
		for p := range picture.Pix {
			picture.Pix[p] = byte(10 * i)
		}
		var file bytes.Buffer
		if err := jpeg.Encode(&file, picture, nil); err != nil {
			t.Fatal(err)
		}
		paths[i], labels[i] = filepath.Join(folder, fmt.Sprintf("%d.jpg", i)), int64(i)
		write(t, paths[i], file.Bytes())
	}
	return list(t, paths, labels)
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, paths []string, labels []int64) *source.List {
	t.Helper()
	l, err := source.Paths(paths, labels)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func spec() Spec {
	return Spec{
		Ops:       []json.RawMessage{json.RawMessage(`{"op":"RandomCrop","height":16,"width":16}`)},
		BatchSize: 4, Shuffle: true, Seed: 7, DType: "uint8", DataFormat: "channels_last", DCTMethod: "accurate",
		Workers: 3, Prefetch: 2, MaxPixels: 1 << 20, OnError: "raise", Channels: 3, EXIF: true, Views: 1,
	}
}

func open(t *testing.T, l *source.List, s Spec) *Loader {
	t.Helper()
	loader, err := New(l, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := loader.Close(); err != nil {
			t.Error(err)
		}
	})
	return loader
}

func begin(t *testing.T, l *Loader) *Epoch {
	t.Helper()
	epoch, err := l.Begin(NextEpoch)
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}

// take gives the slab of the next batch, as the user would hold it.
func take(epoch *Epoch) (slab, error) {
	address, err := epoch.Next(time.Minute)
	if err != nil {
		return slab{}, err
	}
	p := epoch.loader.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.slabs {
		if s.address() == address {
			return s, nil
		}
	}
	return slab{}, fmt.Errorf("slab %#x is not of the pool", address)
}

// next copies a batch out and gives its slab back.
func next(epoch *Epoch) (images []byte, labels []int64, err error) {
	s, err := take(epoch)
	if err != nil {
		return nil, nil, err
	}
	defer s.release()
	for slot := range int(s.c.samples) {
		images = append(images, s.row(s.layout.arrays[0], slot)...)
		labels = append(labels, label(s, slot))
	}
	return images, labels, nil
}

func label(s slab, slot int) int64 {
	return int64(binary.LittleEndian.Uint64(s.row(s.layout.arrays[1], slot)))
}

func all(t *testing.T, epoch *Epoch) (images []byte, labels []int64) {
	t.Helper()
	for {
		i, l, err := next(epoch)
		if errors.Is(err, ErrEnd) {
			return images, labels
		}
		if err != nil {
			t.Fatal(err)
		}
		images, labels = append(images, i...), append(labels, l...)
	}
}

func TestTheSameBytesForAnyNumberOfWorkersAndAnyPrefetch(t *testing.T) {
	l := pictures(t, 22)
	var wantImages []byte
	var wantLabels []int64
	for _, workers := range []int{1, 2, 7} {
		for _, prefetch := range []int{0, 1, 3} {
			s := spec()
			s.Workers, s.Prefetch = workers, prefetch
			loader := open(t, l, s)
			var images []byte
			var labels []int64
			for range 3 {
				i, n := all(t, begin(t, loader))
				images, labels = append(images, i...), append(labels, n...)
			}
			if wantImages == nil {
				wantImages, wantLabels = images, labels
			}
			if !bytes.Equal(images, wantImages) || fmt.Sprint(labels) != fmt.Sprint(wantLabels) {
				t.Errorf("%d workers, prefetch %d: other batches", workers, prefetch)
			}
		}
	}
	if fmt.Sprint(wantLabels[:22]) == fmt.Sprint(wantLabels[22:44]) {
		t.Error("two epochs in the same order")
	}
}

func TestEverySampleOnceWithItsLabel(t *testing.T) {
	loader := open(t, pictures(t, 22), spec())
	for range 3 {
		images, labels := all(t, begin(t, loader))
		seen := map[int64]bool{}
		for slot, label := range labels {
			seen[label] = true
			if gray := images[slot*16*16*3]; gray != byte(10*label) {
				t.Errorf("label %d with gray level %d", label, gray)
			}
		}
		if len(labels) != 22 || len(seen) != 22 {
			t.Errorf("%d samples, %d different", len(labels), len(seen))
		}
	}
}

func TestAFailureTakesThePlaceOfItsBatchOnly(t *testing.T) {
	l := pictures(t, 12)
	write(t, l.Path(5), []byte("<html>"))
	if err := os.Remove(l.Path(6)); err != nil {
		t.Fatal(err)
	}
	s := spec()
	s.Shuffle = false
	epoch := begin(t, open(t, l, s))
	for batch := range 3 {
		_, labels, err := next(epoch)
		if batch != 1 {
			if err != nil || labels[0] != int64(4*batch) {
				t.Errorf("batch %d: labels %v, %v", batch, labels, err)
			}
			continue
		}
		var failure *SampleError
		if !errors.As(err, &failure) || failure.Index != 5 || failure.Path != l.Path(5) {
			t.Errorf("got %v, want the failure of sample 5, the first one", err)
		}
	}
	if _, _, err := next(epoch); !errors.Is(err, ErrEnd) {
		t.Errorf("after the last batch: %v", err)
	}
}

func TestAPanicIsTheFailureOfItsSample(t *testing.T) {
	loader := open(t, pictures(t, 4), spec())
	loader.plan.pipeline = nil // whatever a worker does with it panics
	_, _, err := next(begin(t, loader))
	var failure *SampleError
	if !errors.As(err, &failure) || !errors.Is(err, ErrPanic) || !strings.Contains(failure.Path, ".jpg") {
		t.Errorf("got %v, want a panic with its path", err)
	}
}

func TestTheNextEpochIsPreparedAheadAndNoMore(t *testing.T) {
	l := pictures(t, 40)
	for range 20 { // the user may meet the end of the epoch before or after the workers do
		loader := open(t, l, spec())
		all(t, begin(t, loader))
		window := int(loader.plan.window())
		for loader.Stats().QueueDepth < window {
			runtime.Gosched()
		}
		if images := loader.Stats().Images; images != int64(40+4*window) {
			t.Errorf("%d images, want one epoch and %d batches", images, window)
		}
		if epoch := begin(t, loader); epoch.number != 1 {
			t.Errorf("epoch %d, want the prepared one", epoch.number)
		}
		if err := loader.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheStatisticsCountWhatWasTakenAndDecoded(t *testing.T) {
	loader := open(t, pictures(t, 10), spec())
	all(t, begin(t, loader))
	if err := loader.Close(); err != nil { // nobody counts any more
		t.Fatal(err)
	}
	stats := loader.Stats()
	if stats.Taken != 10 {
		t.Errorf("%d images taken, want 10", stats.Taken)
	}
	if want := (Pixels{Stored: 24 * 20 * stats.Images, Decoded: 16 * 16 * stats.Images}); stats.Pixels != want {
		t.Errorf("pixels %+v, want %+v", stats.Pixels, want)
	}
}

func TestEpochsSideBySideAndBrokenOff(t *testing.T) {
	loader := open(t, pictures(t, 22), spec())
	first, second := begin(t, loader), begin(t, loader)
	_, a, errA := next(first)
	_, b, errB := next(second)
	if errA != nil || errB != nil || first.number != 0 || second.number != 1 || fmt.Sprint(a) == fmt.Sprint(b) {
		t.Errorf("epochs %d and %d: %v %v, %v %v", first.number, second.number, a, b, errA, errB)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := next(first); !errors.Is(err, ErrEnd) {
		t.Errorf("after the epoch's Close: %v", err)
	}
	if _, labels := all(t, second); len(labels) != 18 {
		t.Errorf("the other epoch has %d samples left, want 18", len(labels))
	}
	if third := begin(t, loader); third.number != 2 {
		t.Errorf("epoch %d after two", third.number)
	}
}

func TestCloseEndsAWaitAndKeepsWhatTheUserHolds(t *testing.T) {
	loader := open(t, pictures(t, 40), spec())
	epoch := begin(t, loader)
	held, err := take(epoch)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := loader.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := epoch.Next(time.Minute); !errors.Is(err, ErrClosed) {
		t.Errorf("Next after Close: %v", err)
	}
	if _, err := loader.Begin(NextEpoch); !errors.Is(err, ErrClosed) {
		t.Errorf("Begin after Close: %v", err)
	}
	if held.c.references != 1 || held.row(held.layout.arrays[1], 0)[7] != 0 {
		t.Errorf("%d references to the slab in the user's hands", held.c.references)
	}
	held.release()
}

func TestThePoolUsesSlabsAgainAndKeepsFew(t *testing.T) {
	where := newLayout(4)
	for _, name := range []string{"first", "second"} {
		if _, err := where.add(name, "uint8", 5, 5); err != nil {
			t.Fatal(err)
		}
	}
	p := &pool{layout: where, spare: 2}
	var held []slab
	for range 10 {
		s, err := p.get()
		if err != nil {
			t.Fatal(err)
		}
		for _, array := range where.arrays {
			if uintptr(unsafe.Pointer(unsafe.SliceData(s.row(array, 0))))%alignment != 0 {
				t.Errorf("the %s array is not aligned", array.Name)
			}
		}
		held = append(held, s)
	}
	if len(p.slabs) != 10 {
		t.Errorf("%d slabs for 10 in use", len(p.slabs))
	}
	for _, s := range held {
		s.release()
	}
	if _, err := p.get(); err != nil || len(p.slabs) != 3 {
		t.Errorf("%d slabs for 1 in use and 2 spare, %v", len(p.slabs), err)
	}
	p.close()
}

func TestSpecificationsThatCannotWork(t *testing.T) {
	l := pictures(t, 3)
	for name, change := range map[string]func(*Spec){
		"batch size":  func(s *Spec) { s.BatchSize = 0 },
		"workers":     func(s *Spec) { s.Workers = 0 },
		"prefetch":    func(s *Spec) { s.Prefetch = -1 },
		"pixels":      func(s *Spec) { s.MaxPixels = 0 },
		"dtype":       func(s *Spec) { s.DType = "int8" },
		"data format": func(s *Spec) { s.DataFormat = "NHWC" },
		"DCT":         func(s *Spec) { s.DCTMethod = "float" },
		"no size":     func(s *Spec) { s.Ops = nil },
		"classes":     func(s *Spec) { s.OneHot = &OneHot{Classes: 2} },
		"no class":    func(s *Spec) { s.OneHot = &OneHot{} },
		"too large":   func(s *Spec) { s.BatchSize = 1 << 30; s.OneHot = &OneHot{Classes: 1 << 24} },
		"views":       func(s *Spec) { s.Views = 0 },
		"output":      func(s *Spec) { s.MaxPixels = 255 },
	} {
		s := spec()
		change(&s)
		if loader, err := New(l, s); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want %v", name, err, ErrConfig)
			if err == nil {
				_ = loader.Close()
			}
		}
	}
}

func TestReadFileRefusesWhatIsNoFile(t *testing.T) {
	if _, err := readFile(t.TempDir(), nil, 100); !errors.Is(err, ErrRead) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := readFile("/dev/zero", nil, 100); !errors.Is(err, ErrRead) {
		t.Errorf("a device: %v", err)
	}
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, []byte("text"))
	if data, err := readFile(path, make([]byte, 2), 4); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := readFile(path, nil, 3); !errors.Is(err, ErrRead) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("over the limit: %v", err)
	}
}

func TestLabelSmoothing(t *testing.T) {
	row := make([]byte, 16)
	(&OneHot{Classes: 4, Smoothing: 0.1}).write(row, 2)
	var got [4]float32
	if _, err := binary.Decode(row, binary.LittleEndian, &got); err != nil {
		t.Fatal(err)
	}
	keep, share := float32(0.9), float32(0.025) // variables: constants would be added exactly
	if want := [4]float32{share, share, keep + share, share}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
