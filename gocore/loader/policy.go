package loader

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrTooManyBad is a run that met more bad files than it may.
var ErrTooManyBad = errors.New("too many bad files")

// substitutes is how many other samples are tried in place of a bad one.
const substitutes = 100

// The random numbers of operations on a sample are keyed by their places, from 0 on; below lie the numbers for what else is
// drawn: substitutes of a sample, downwards, the seeds of views, and operations on a batch, downwards.
const (
	substitution = -1
	viewing      = substitution - substitutes - 1
	mixture      = viewing - 1
)

// BadFile is a file that could not be used, and why.
type BadFile struct {
	Path, Reason string
}

// notTheFiles are failures that are not the file's, such as that the process has too many files open.
var notTheFiles = []error{ErrPanic, ErrMemory, ErrClosed, unix.EMFILE, unix.ENFILE}

// fatal failures are those that no policy passes over.
func fatal(err error) bool {
	return slices.ContainsFunc(notTheFiles, func(kind error) bool { return errors.Is(err, kind) })
}

// substitute chooses another sample in place of a bad one, a pure function of what the bad one was.
func (p *plan) substitute(random *rand.Rand) int64 { return p.index(random.Int64N(p.available)) }

// report notes bad files in the order in which the user meets them, and fails once they are too many. The caller
// holds the mutex.
func (l *Loader) report(bad []failure) error {
	for _, f := range bad {
		l.bad[f.err.Index] = f.err
	}
	if l.plan.OnError == "raise" || int64(len(l.bad)) <= l.plan.MaxBad {
		return nil
	}
	var list strings.Builder
	for _, b := range l.badFiles() {
		fmt.Fprintf(&list, "\n%s: %s", b.Path, b.Reason)
	}
	return fmt.Errorf("%w: %d, max_bad allows %d:%s", ErrTooManyBad, len(l.bad), l.plan.MaxBad, list.String())
}

func (l *Loader) badFiles() []BadFile {
	files := make([]BadFile, 0, len(l.bad))
	for _, index := range slices.Sorted(maps.Keys(l.bad)) {
		files = append(files, BadFile{l.bad[index].Path, l.bad[index].Err.Error()})
	}
	return files
}

// BadFiles are those met so far in batches that the user took, in the order of the source.
func (l *Loader) BadFiles() []BadFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.badFiles()
}
