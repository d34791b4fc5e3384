package source

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
)

func samples(list *List) []Sample {
	out := make([]Sample, list.Len())
	for i := range out {
		out[i] = list.At(i)
	}
	return out
}

// checkError wants an *Error with this path and with this text in its reason, and gives it back.
func checkError(t *testing.T, err error, path, reason string) *Error {
	t.Helper()
	failure, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got error %v, want an *Error", err)
	}
	if failure.Path != path || !strings.Contains(failure.Reason, reason) {
		t.Errorf("got %q and %q, want %q and %q", failure.Path, failure.Reason, path, reason)
	}
	return failure
}

func TestPathsAreKeptAsTheyAre(t *testing.T) {
	paths := []string{
		"a.jpg", "/abs/a.jpg", "dir/../a.jpg", "dir//a.jpg", "./a.jpg", "dir/", "", "/",
		" lead and trail ", "caf\xe9/\xff.jpg", "e\u0301.jpg", "\u00e9.jpg", "a.jpg",
	}
	labels := []int64{0, -1, math.MaxInt64, math.MinInt64, 7, 7, 7, 7, 1, 2, 3, 4, 5}
	list, err := Paths(paths, labels)
	if err != nil {
		t.Fatal(err)
	}
	if !list.HasLabels() || list.Len() != len(paths) {
		t.Fatalf("labels %v, length %d", list.HasLabels(), list.Len())
	}
	for i, want := range paths {
		if list.Path(i) != want || list.Label(i) != labels[i] {
			t.Errorf("sample %d: got %+v, want %q %d", i, list.At(i), want, labels[i])
		}
	}
	labels[0] = 9
	if list.Label(0) != 0 {
		t.Error("the list shares the caller's labels")
	}
}

func TestPathsWithoutLabels(t *testing.T) {
	list, err := Paths([]string{"a/1.jpg", "a/2.jpg"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if list.HasLabels() || list.ClassNames() != nil {
		t.Error("labels or class names where there are none")
	}
	if want := []Sample{{Path: "a/1.jpg"}, {Path: "a/2.jpg"}}; !slices.Equal(samples(list), want) {
		t.Errorf("got %v", samples(list))
	}
}

func TestPathsErrors(t *testing.T) {
	_, err := Paths([]string{"a", "b"}, []int64{1})
	checkError(t, err, "", "2 paths but 1 labels")
	if !errors.Is(err, ErrLabelCount) {
		t.Errorf("%v is not ErrLabelCount", err)
	}
	_, err = Paths(nil, nil)
	checkError(t, err, "", "no samples")
	if !errors.Is(err, ErrNoSamples) {
		t.Errorf("%v is not ErrNoSamples", err)
	}
}

// A path a sample costs its name and twenty bytes; the folder is kept once.
func TestListKeepsFoldersOnce(t *testing.T) {
	builder := newBuilder()
	for i := range 10_000 {
		builder.add(fmt.Sprintf("%s/class %d/%d.jpg", strings.Repeat("long", 100), i%3, i))
	}
	if got := len(builder.list.folders); got != 3 {
		t.Errorf("%d folders, want 3", got)
	}
	if got, most := len(builder.list.names), 10_000*len("9999.jpg"); got > most {
		t.Errorf("%d bytes of names, want at most %d", got, most)
	}
}

func TestErrorText(t *testing.T) {
	failure := &Error{Path: "a/b.jpg", Reason: "no such file or directory", Err: fs.ErrNotExist}
	if got, want := failure.Error(), "a/b.jpg: no such file or directory"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(fmt.Errorf("outer: %w", failure), fs.ErrNotExist) {
		t.Error("the cause is not unwrapped")
	}
	if got := (&Error{Reason: "why"}).Error(); got != "why" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkListPath(b *testing.B) {
	builder := newBuilder()
	for i := range 1000 {
		builder.add(fmt.Sprintf("/data/train/class%d/picture%d.jpg", i/100, i))
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		builder.list.Path(i)
		i = (i + 1) % 1000
	}
}
