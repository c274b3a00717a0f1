package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Captures is a pool of unnamed files. Each collects what one attempt prints to one stream.
//
// Creating a file is the most expensive step of a task that prints little, so files are reused. A
// file is reused only when no process can write to it any more, because a process that a task left
// behind may keep it open for ever. The kernel can tell: it grants a read lease only on a file that
// nobody has open for writing (fcntl(2), F_SETLEASE). On a file system without leases each attempt
// gets a new file.
type Captures struct {
	Root string // folder where the files are made

	mu   sync.Mutex
	idle []*capture // the file that is idle for longest is first
	made int
}

// capture is a file to which an attempt prints.
type capture struct {
	fd       int // open for appending; closed by the Output
	*os.File     // the same file, open for reading only
}

const (
	// maxIdle is the largest number of idle files that are kept.
	maxIdle = 64
	// maxKept is the largest size in bytes of a file that is kept. Its contents stay on the disk
	// until it is reused.
	maxKept = 1 << 20
	// leaseTries is the number of files that are tried before a new one is created. While another
	// thread starts a process, the new process has all files of this process open for a moment, so
	// a lease may be refused.
	leaseTries = 3
)

// acquire returns an empty file.
func (c *Captures) acquire() (*capture, error) {
	for range leaseTries {
		f := c.next()
		if f == nil {
			break
		}
		if f.unwritten() {
			return f, f.open()
		}
		c.keep(f)
	}
	c.mu.Lock()
	c.made++
	path := filepath.Join(c.Root, "capture."+strconv.Itoa(c.made))
	c.mu.Unlock()
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		_ = file.Close() // the error of removing it is returned
		return nil, err
	}
	f := &capture{File: file}
	return f, f.open()
}

// next removes the file that is idle for longest from the pool and returns it, or nil if there is
// none.
func (c *Captures) next() *capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) == 0 {
		return nil
	}
	f := c.idle[0]
	c.idle = c.idle[1:]
	return f
}

// release takes a file back after it was closed for writing.
func (c *Captures) release(f *capture) {
	if f.size() > maxKept {
		_ = f.Close() // the file was only read, and is discarded
		return
	}
	c.keep(f)
}

func (c *Captures) keep(f *capture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, f)
	if len(c.idle) > maxIdle {
		_ = c.idle[0].Close() // the file was only read, and is discarded
		c.idle = c.idle[1:]
	}
}

// unwritten reports whether no process has the file open for writing.
func (f *capture) unwritten() bool {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// open truncates the file and opens it for appending.
func (f *capture) open() (err error) {
	flags := unix.O_WRONLY | unix.O_APPEND
	if f.size() > 0 {
		flags |= unix.O_TRUNC
	}
	if f.fd, err = open(f.name(), flags); err != nil {
		_ = f.Close() // the error of opening the file is returned
	}
	return err
}

// name returns a path of the file, which other opens of it in this process can use.
func (f *capture) name() string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// size returns the size of the file in bytes.
func (f *capture) size() int64 {
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	return st.Size()
}
