package loader

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// readFile reads a whole file of at most so many bytes into the buffer, which grows as needed. Plain system calls: os.File would ask the
// poller and allocate for every picture.
func readFile(path string, buffer []byte, limit int64) ([]byte, error) {
	// O_NONBLOCK: a pipe in a data set is an error, not a wait for a writer.
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) })
	if err != nil {
		return buffer, fmt.Errorf("%w: %w", ErrRead, err)
	}
	defer func() { _ = unix.Close(fd) }() // opened for reading: there is nothing to lose
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return buffer, fmt.Errorf("%w: %w", ErrRead, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return buffer, fmt.Errorf("%w: not a regular file", ErrRead)
	}
	if stat.Size > limit {
		return buffer, fmt.Errorf("%w: too large: %d bytes, the limit is %d", ErrRead, stat.Size, limit)
	}
	if size := int(stat.Size); cap(buffer) < size {
		buffer = make([]byte, size+size/4)
	}
	buffer = buffer[:stat.Size]
	for done := 0; done < len(buffer); {
		n, err := retry(func() (int, error) { return unix.Read(fd, buffer[done:]) })
		if err != nil {
			return buffer, fmt.Errorf("%w: %w", ErrRead, err)
		}
		if n == 0 { // cut short since it was opened
			return buffer[:done], nil
		}
		done += n
	}
	return buffer, nil
}

// retry calls again what a signal interrupted; Go's scheduler sends signals.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
