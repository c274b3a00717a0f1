// Package logfile limits the size of the logs of berth's background processes. These write
// to their standard error, which was redirected to a file when they were started. Nobody
// cleans up that file, and it may be on the same disk as the journals.
//
// A library such as lumberjack does not do, as it opens a file of its own. The Go runtime
// writes panics and data races to standard error, so they would be in another file. Here
// the descriptor of standard error itself is moved to the new file.
package logfile

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Max is the largest size of a log in bytes: some thirty thousand lines. One older file of at
// most that size stays beside it; its name has the suffix Older.
const (
	Max   = 4 << 20
	Older = ".1"
)

// Stderr returns a writer to this process's standard error. If that is a file opened for
// appending, a new file replaces it before it becomes larger than Max, and it becomes the
// older file.
func Stderr() io.Writer { return open(os.Stderr, Max) }

// capped is a log whose file is replaced when it becomes too large.
type capped struct {
	mu   sync.Mutex
	file *os.File
	path string
	max  int64
	size int64
}

// open returns a writer to f. The writer is capped if f is a file with a name and opened for appending.
func open(f *os.File, limit int64) io.Writer {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return f
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_APPEND == 0 {
		return f
	}
	here, err := f.Stat()
	if err != nil || !here.Mode().IsRegular() {
		return f
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(here, there) {
		return f
	}
	return &capped{file: f, path: path, max: limit, size: here.Size()}
}

// Write writes a line. If the line does not fit into the file, Write replaces the file first.
// If the file cannot be replaced, the line is written to it all the same: a log never stops
// its process.
func (c *capped) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size > 0 && c.size+int64(len(line)) > c.max {
		if c.replace() == nil {
			c.size = 0
		}
	}
	n, err := c.file.Write(line)
	c.size += int64(n)
	return n, err
}

// replace renames the file to the older one and points the descriptor to a new file.
func (c *capped) replace() error {
	if err := os.Rename(c.path, c.path+Older); err != nil {
		return err
	}
	next, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer next.Close()
	return unix.Dup3(int(next.Fd()), int(c.file.Fd()), 0)
}
