// Package source says where samples come from: it makes the list of their paths and labels, once.
// A List does not change afterwards, whatever happens to the files.
package source

import (
	"slices"
	"strings"
	"sync/atomic"
)

var listed atomic.Int64

// Listed is how many samples this process has found so far, in all lists: it grows while one is made.
func Listed() int64 { return listed.Load() }

// Sample is one file and its label.
type Sample struct {
	Path  string // the bytes of the file's name
	Label int64  // 0 where the list has no labels
}

// List holds the samples of a data set in their order. It is compact, since data sets have millions
// of files: the folder of a path is kept once, and the names lie in one array. It is read only and may be
// shared by goroutines.
type List struct {
	folders []string // up to and with the last slash
	folder  []uint32 // of each sample, in folders
	names   []byte   // of all samples, end to end
	ends    []int    // of each sample's name, in names
	labels  []int64  // nil if the list has none
	masks   *List    // of the samples, in their order; nil if the list has none
	boxes   *Boxes   // nil if the list has none

	classNames   []string
	emptyClasses []string
}

// Paths lists the given paths as they are, with labels of the same number or with none (nil).
func Paths(paths []string, labels []int64) (*List, error) {
	if labels != nil && len(labels) != len(paths) {
		return nil, fail("", ErrLabelCount, "%d paths but %d labels", len(paths), len(labels))
	}
	if len(paths) == 0 {
		return nil, fail("", ErrNoSamples, "no samples: the list of paths is empty")
	}
	builder := newBuilder()
	for _, path := range paths {
		builder.add(path)
	}
	builder.list.labels = slices.Clone(labels)
	return builder.list, nil
}

// Len is the number of samples.
func (l *List) Len() int { return len(l.ends) }

// At gives sample i.
func (l *List) At(i int) Sample { return Sample{Path: l.Path(i), Label: l.Label(i)} }

// Path gives the path of sample i.
func (l *List) Path(i int) string {
	start := 0
	if i > 0 {
		start = l.ends[i-1]
	}
	folder, name := l.folders[l.folder[i]], l.names[start:l.ends[i]]
	var path strings.Builder
	path.Grow(len(folder) + len(name))
	path.WriteString(folder)
	path.Write(name)
	return path.String()
}

// Label gives the label of sample i, or 0 where the list has no labels.
func (l *List) Label(i int) int64 {
	if l.labels == nil {
		return 0
	}
	return l.labels[i]
}

// HasLabels tells whether the samples have labels.
func (l *List) HasLabels() bool { return l.labels != nil }

// ClassNames gives the names of the classes in the order of their labels, or nil where they have no
// names. The caller must not change it.
func (l *List) ClassNames() []string { return l.classNames }

// EmptyClasses gives the names of the classes that have no sample.
func (l *List) EmptyClasses() []string { return l.emptyClasses }

// builder fills a List; the map finds the folders it has already.
type builder struct {
	list    *List
	folders map[string]uint32
}

func newBuilder() *builder {
	return &builder{list: &List{}, folders: map[string]uint32{}}
}

func (b *builder) add(path string) {
	slash := strings.LastIndexByte(path, '/') + 1
	index, known := b.folders[path[:slash]]
	if !known {
		index = uint32(len(b.list.folders))
		folder := strings.Clone(path[:slash])
		b.folders[folder] = index
		b.list.folders = append(b.list.folders, folder)
	}
	b.list.folder = append(b.list.folder, index)
	b.list.names = append(b.list.names, path[slash:]...)
	b.list.ends = append(b.list.ends, len(b.list.names))
}

func (b *builder) addLabelled(path string, label int64) {
	b.add(path)
	b.list.labels = append(b.list.labels, label)
}

// join puts a slash between a folder and a name, and leaves both as they are: cleaning would change
// what "link/../name" means.
func join(folder, name string) string {
	if folder == "" || strings.HasPrefix(name, "/") {
		return name
	}
	if strings.HasSuffix(folder, "/") {
		return folder + name
	}
	return folder + "/" + name
}
