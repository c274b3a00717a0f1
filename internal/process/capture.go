package process

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Captures lends files without a name, each for what one attempt prints to one stream.
//
// To make a file costs more than all else that is done for a task which prints little. So a file is lent again once no process can write to it any more: a
// process that a task left behind may have it open for ever. The kernel tells that exactly, as it grants a lease for reading only on a file that nobody has
// open for writing (fcntl(2), F_SETLEASE). Where a file system knows no leases, each attempt gets a new file.
type Captures struct {
	Root string // folder where the files are made

	mu   sync.Mutex
	idle []*Capture // longest idle first
	made int
}

// Capture is a file that takes what an attempt prints.
type Capture struct {
	FD   int   // open for appending until End
	Size int64 // bytes at End
	read int   // the same file, open for reading only
}

const (
	// maxIdle bounds how many files are kept that nobody uses.
	maxIdle = 64
	// maxKept is up to what size a file is kept, bytes: what it holds stays on the disk until it is lent again.
	maxKept = 1 << 20
	// leaseTries is how many files are tried before one is made. A process that another thread starts just now has all of this process's files open for a moment.
	leaseTries = 3
)

// Take returns an empty file.
func (c *Captures) Take() (*Capture, error) {
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
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Unlink(path); err != nil {
		_ = unix.Close(fd) // the error that counts is the other
		return nil, err
	}
	f := &Capture{read: fd}
	return f, f.open()
}

// next returns the file that is idle for longest, nil where none is.
func (c *Captures) next() *Capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) == 0 {
		return nil
	}
	f := c.idle[0]
	c.idle = c.idle[1:]
	return f
}

// Give takes a file back after its End.
func (c *Captures) Give(f *Capture) {
	if f.Size > maxKept {
		_ = unix.Close(f.read) // only read, and gone by that
		return
	}
	c.keep(f)
}

func (c *Captures) keep(f *Capture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, f)
	if len(c.idle) > maxIdle {
		_ = unix.Close(c.idle[0].read) // only read, and gone by that
		c.idle = c.idle[1:]
	}
}

// unwritten reports whether no process has the file open for writing.
func (f *Capture) unwritten() bool {
	if _, err := unix.FcntlInt(uintptr(f.read), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(uintptr(f.read), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// open opens the file for appending, without what it held.
func (f *Capture) open() (err error) {
	flags := unix.O_WRONLY | unix.O_APPEND
	var st unix.Stat_t
	if unix.Fstat(f.read, &st) == nil && st.Size > 0 {
		flags |= unix.O_TRUNC
	}
	if f.FD, err = open(fmt.Sprintf("/proc/self/fd/%d", f.read), flags); err != nil {
		_ = unix.Close(f.read) // the error that counts is the other
	}
	return err
}

// End ends the writing, and takes the file's size. It fails where the file system lost what was written before.
func (f *Capture) End() error {
	var st unix.Stat_t
	err := unix.Fstat(f.read, &st)
	if cerr := unix.Close(f.FD); err == nil {
		err = cerr
	}
	f.Size = st.Size
	return err
}

// ReadAt reads what was written (io.ReaderAt).
func (f *Capture) ReadAt(p []byte, at int64) (n int, err error) {
	for {
		if n, err = unix.Pread(f.read, p, at); err != unix.EINTR {
			break
		}
	}
	switch {
	case err != nil:
		return 0, err
	case n < len(p):
		return n, io.EOF
	}
	return n, nil
}

// Tail returns the last lines of what was written.
func (f *Capture) Tail() string {
	var st unix.Stat_t
	if unix.Fstat(f.read, &st) != nil {
		return ""
	}
	return tailOf(f, st.Size)
}
