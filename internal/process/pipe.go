package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipeSize is asked for the pipes of streaming programs (fcntl(2), F_SETPIPE_SZ):
// the largest that an unprivileged process may have by default. Less will do.
const pipeSize = 1 << 20

// activity tells whether a program does anything: a number that changes when it
// reads, writes or reports, and how many of its partners inside the worker are
// busy elsewhere. While one is, the program may have to wait, which is no fault of its.
type activity struct {
	count atomic.Uint64
	busy  atomic.Int32
}

// pipeEnd is the worker's end of a program's standard input or output. It does not block;
// once its deadline is over it is given up.
type pipeEnd struct {
	*os.File
	raw      syscall.RawConn
	activity *activity
}

func newPipeEnd(f *os.File, act *activity) *pipeEnd {
	raw, _ := f.SyscallConn() // fails for no file only
	return &pipeEnd{f, raw, act}
}

// giveUp ends all waiting for the pipe, now and later.
func (p *pipeEnd) giveUp() { _ = p.SetDeadline(time.Unix(1, 0)) } // fails only where it is closed

// Read reads what the program wrote. What is in a pipe that was given up is still read.
func (p *pipeEnd) Read(b []byte) (n int, err error) {
	p.activity.busy.Add(-1)
	defer p.activity.busy.Add(1)
	read := func(fd uintptr) bool {
		n, err = unix.Read(int(fd), b)
		for err == unix.EINTR {
			n, err = unix.Read(int(fd), b)
		}
		return err != unix.EAGAIN
	}
	if p.raw.Read(read) != nil {
		err = errors.Join(p.raw.Control(func(fd uintptr) { read(fd) }), err)
	}
	if err != nil {
		return 0, os.NewSyscallError("read", err)
	}
	if n == 0 {
		return 0, io.EOF
	}
	p.activity.count.Add(1)
	return n, nil
}

// Write writes what the program shall read. Each part that finds room is activity.
func (p *pipeEnd) Write(b []byte) (done int, err error) {
	p.activity.busy.Add(-1)
	defer p.activity.busy.Add(1)
	for done < len(b) && err == nil {
		var n int
		gone := p.raw.Write(func(fd uintptr) bool {
			n, err = unix.Write(int(fd), b[done:])
			return err != unix.EAGAIN
		})
		switch {
		case gone != nil:
			return done, gone
		case err == unix.EINTR:
			err = nil
		case err == nil:
			done += n
			p.activity.count.Add(1)
		}
	}
	return done, os.NewSyscallError("write", err)
}

// enough reports whether an error means that the program wants no more input, or that its
// output was given up.
func enough(err error) bool {
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.EAGAIN) || errors.Is(err, os.ErrDeadlineExceeded)
}

// pipe makes a pipe. Our end does not block, theirs does, as programs expect.
func pipe(weRead bool, size int) (ours, theirs *os.File, err error) {
	theirs, ours, err = os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	if weRead {
		ours, theirs = theirs, ours
	}
	fd := theirs.Fd() // from now on it blocks
	if size > 0 {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size) // refused where the user's pipes are used up: it is small then
	}
	return ours, theirs, nil
}
