// Package pybind is what gopy sees: plain functions over int64, uint64, string and error. docs/abi.md describes
// them for every caller.
//
// A handle is an int64 of ours and stays dead once it is closed. Texts that hold file names are sent as one code
// point a byte (Latin-1), since a file name need not be UTF-8. Every function turns a panic into an error, which
// would otherwise end the Python process.
package pybind

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"tfgoloader/gocore/jpeg"
	"tfgoloader/gocore/loader"
	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/source"
)

// Set by the linker; see setup.py.
var (
	packageVersion = "unknown"
	gopyVersion    = "unknown"
)

// What Next gives instead of a slab's address.
const (
	pending = 0
	ended   = 1
)

// Go's first timer takes two file descriptors, and where none are left it ends the process. So it is set here, when there
// still are some, and not in the middle of a run.
func init() { time.AfterFunc(0, func() {}) }

// signalInterval is how long Next waits at most, so that Python can look for signals.
const signalInterval = 100 * time.Millisecond

// BuildInfo says what this module was built from, as a JSON object.
func BuildInfo() (text string, err error) {
	defer recovered(&err)
	return encode(map[string]string{
		"tfgoloader":          packageVersion,
		"go":                  runtime.Version(),
		"gopy":                gopyVersion,
		"libjpeg-turbo":       jpeg.Version(),
		"vector_instructions": pixel.Instructions(),
	})
}

type sourceSpec struct {
	Kind       string   `json:"kind"`
	Path       string   `json:"path"`
	Root       string   `json:"root"`
	Delimiter  string   `json:"delimiter"`
	ClassNames []string `json:"class_names"`
	Paths      []string `json:"paths"`
	Labels     []int64  `json:"labels"`
	Masks      []string `json:"masks"`
	Boxes      *boxes   `json:"boxes"`
}

// OpenSource lists the samples that a JSON object describes, and gives a handle.
func OpenSource(spec string) (handle int64, err error) {
	defer recovered(&err)
	var s sourceSpec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return 0, failure(fmt.Errorf("%w: %w", loader.ErrConfig, err))
	}
	var list *source.List
	switch s.Kind {
	case "directory":
		list, err = source.Directory(fileName(s.Path), source.DirectoryOptions{ClassNames: fileNames(s.ClassNames)})
	case "list":
		list, err = source.ListFile(fileName(s.Path), fileName(s.Root), fileName(s.Delimiter))
	case "paths":
		if list, err = source.Paths(fileNames(s.Paths), s.Labels); err == nil {
			list, err = source.WithTargets(list, source.Targets{Masks: fileNames(s.Masks), Boxes: s.Boxes.unpack()})
		}
	default:
		err = fmt.Errorf("%w: unknown source %q", loader.ErrConfig, s.Kind)
	}
	if err != nil {
		return 0, failure(err)
	}
	return handles.add(list), nil
}

// ListedSamples is how many samples this process has found so far; it grows while OpenSource is at work.
func ListedSamples() (count int64, err error) {
	defer recovered(&err)
	return source.Listed(), nil
}

// DescribeSource gives a source's size, labels and classes as a JSON object.
func DescribeSource(handle int64) (text string, err error) {
	defer recovered(&err)
	list, err := get[*source.List](handle)
	if err != nil {
		return "", failure(err)
	}
	about := struct {
		Count        int      `json:"count"`
		HasLabels    bool     `json:"has_labels"`
		HasMasks     bool     `json:"has_masks"`
		HasBoxes     bool     `json:"has_boxes"`
		ClassNames   []string `json:"class_names"`
		EmptyClasses []string `json:"empty_classes"`
	}{list.Len(), list.HasLabels(), list.HasMasks(), list.HasBoxes(), texts(list.ClassNames()), texts(list.EmptyClasses())}
	return encode(about)
}

// ListSource gives the paths and labels of the samples from index start up to stop as a JSON object.
func ListSource(handle, start, stop int64) (text string, err error) {
	defer recovered(&err)
	list, err := get[*source.List](handle)
	if err != nil {
		return "", failure(err)
	}
	var out struct {
		Paths  []string `json:"paths"`
		Labels []int64  `json:"labels"`
	}
	for i := max(start, 0); i < min(stop, int64(list.Len())); i++ {
		out.Paths = append(out.Paths, toText(list.Path(int(i))))
		if list.HasLabels() {
			out.Labels = append(out.Labels, list.Label(int(i)))
		}
	}
	return encode(out)
}

// OpenLoader starts a loader over a source, as a JSON object describes it, and gives a handle.
func OpenLoader(sourceHandle int64, spec string) (handle int64, err error) {
	defer recovered(&err)
	list, err := get[*source.List](sourceHandle)
	if err != nil {
		return 0, failure(err)
	}
	var s loader.Spec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return 0, failure(fmt.Errorf("%w: %w", loader.ErrConfig, err))
	}
	l, err := loader.New(list, s)
	if err != nil {
		return 0, failure(err)
	}
	return handles.add(l), nil
}

// DescribeLoader gives the arrays of a batch of a loader, or of what Preprocess makes, and where they lie in its slab, as
// a JSON object.
func DescribeLoader(handle int64) (text string, err error) {
	defer recovered(&err)
	l, err := get[interface{ Arrays() []*loader.Array }](handle)
	if err != nil {
		return "", failure(err)
	}
	return encode(map[string][]*loader.Array{"arrays": l.Arrays()})
}

// Begin starts an epoch of the loader at a batch, and gives a handle; epoch -1 is the next one. Tail is that of the
// slab of the batch before, or -1.
func Begin(loaderHandle, epochNumber, batch, tail int64) (handle int64, err error) {
	defer recovered(&err)
	l, err := get[*loader.Loader](loaderHandle)
	if err != nil {
		return 0, failure(err)
	}
	epoch, err := l.Begin(loader.Position{Epoch: epochNumber, Batch: batch, Tail: tail})
	if err != nil {
		return 0, failure(err)
	}
	return handles.add(epoch), nil
}

// Next waits up to a tenth of a second for an epoch's next batch and gives the address of its slab, one reference
// to which is the caller's; 0 where it is not ready, 1 where the epoch is over.
func Next(epochHandle int64) (address uint64, err error) {
	defer recovered(&err)
	epoch, err := get[*loader.Epoch](epochHandle)
	if err != nil {
		return pending, failure(err)
	}
	slab, err := epoch.Next(signalInterval)
	switch {
	case errors.Is(err, loader.ErrPending):
		return pending, nil
	case errors.Is(err, loader.ErrEnd):
		return ended, nil
	case err != nil:
		return pending, failure(err)
	}
	return uint64(slab), nil
}

// Replay makes the sample with an index in the source as an epoch does, and tells what was drawn for it, as a JSON
// object. One reference to the slab, whose address is in it, is the caller's.
func Replay(loaderHandle, epoch, index int64) (text string, err error) {
	defer recovered(&err)
	l, err := get[*loader.Loader](loaderHandle)
	if err != nil {
		return "", failure(err)
	}
	r, err := l.Replay(epoch, index)
	if err != nil {
		return "", failure(err)
	}
	r.Path = toText(r.Path)
	return encode(r)
}

// Stats gives what the loader has done so far as a JSON object.
func Stats(loaderHandle int64) (text string, err error) {
	defer recovered(&err)
	l, err := get[*loader.Loader](loaderHandle)
	if err != nil {
		return "", failure(err)
	}
	about := struct {
		loader.Stats
		BadFiles [][2]string `json:"bad_files"`
	}{Stats: l.Stats()}
	for _, bad := range l.BadFiles() {
		about.BadFiles = append(about.BadFiles, [2]string{toText(bad.Path), toText(bad.Reason)})
	}
	return encode(about)
}

// Close ends what the handle stands for, a source, a loader or an epoch, and frees what is not in the caller's
// hands. A handle that is closed already is left alone.
func Close(handle int64) (err error) {
	defer recovered(&err)
	if err := handles.close(handle); err != nil {
		return failure(err)
	}
	return nil
}

func encode(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", failure(err)
	}
	return string(text), nil
}

func recovered(err *error) {
	if r := recover(); r != nil {
		*err = failure(fmt.Errorf("%w: %v\n%s", loader.ErrPanic, r, debug.Stack()))
	}
}
