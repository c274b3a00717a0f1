// Package logfile bounds the logs of berth's processes in the background. They write to
// their standard error, which whoever started them led into a file; nobody looks after that
// file, and it may share a disk with the journals.
//
// It is no library's rotating file (lumberjack, say), as those open a file of their own: what
// the Go runtime itself writes of a panic or a data race goes to standard error, and would
// stay in the old file or in another one. Here standard error itself moves to the new file.
package logfile

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Max is how large a log may become, in bytes: some thirty thousand lines. One older file of
// that size stays beside it, with Older behind its name.
const (
	Max   = 4 << 20
	Older = ".1"
)

// Stderr returns a writer to this process's standard error. Where that is a file which is
// appended to, it is replaced by a new one before it becomes larger than Max, and stays as the
// older one.
func Stderr() io.Writer { return open(os.Stderr, Max) }

// capped is a log whose file is replaced when it has become too large.
type capped struct {
	mu   sync.Mutex
	file *os.File
	path string
	max  int64
	size int64
}

// open returns a writer to f, capped where f is a file that is appended to and has a name.
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

// Write writes a line, first into a new file if it has no room in the present one. Where no
// new file can be made the line goes into the old one: a log never stops its process.
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

// replace makes the file the older one and leads the descriptor into a new file.
func (c *capped) replace() error {
	if err := os.Rename(c.path, c.path+Older); err != nil {
		return err
	}
	next, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = next.Close() }()
	return unix.Dup3(int(next.Fd()), int(c.file.Fd()), 0)
}
