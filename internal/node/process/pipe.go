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

// pipeSize is requested for the pipes of streaming programs (fcntl(2), F_SETPIPE_SZ), bytes. It is
// the largest that an unprivileged process may have by default. Smaller pipes work as well.
const pipeSize = 1 << 20

// activity shows whether a program does anything. It contains a number that changes when the
// program reads, writes or reports, and the number of its partners in the worker that are busy
// elsewhere. While a partner is busy, the program may have to wait and must not be killed as idle.
type activity struct {
	count atomic.Uint64
	busy  atomic.Int32
}

// pipeEnd is the worker's end of a program's standard input or output. It does not block. Once its
// deadline has passed no operation waits for it.
type pipeEnd struct {
	*os.File
	raw      syscall.RawConn
	activity *activity
}

func newPipeEnd(f *os.File, act *activity) *pipeEnd {
	raw, _ := f.SyscallConn() // fails only for a nil file
	return &pipeEnd{f, raw, act}
}

// giveUp ends all waiting for the pipe, now and later.
func (p *pipeEnd) giveUp() { _ = p.SetDeadline(time.Unix(1, 0)) } // fails only if the pipe is closed

// Read reads what the program wrote. After giveUp it still reads what is in the pipe.
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

// Write writes the program's input. Each successful write to the pipe counts as activity.
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

// enough reports whether an error means that the program reads no more input, or that giveUp was
// called.
func enough(err error) bool {
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.EAGAIN) || errors.Is(err, os.ErrDeadlineExceeded)
}

// pipe creates a pipe. Our end does not block. The program's end blocks, as programs expect.
func pipe(weRead bool, size int) (ours, theirs *os.File, err error) {
	theirs, ours, err = os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create a pipe: %w", err)
	}
	if weRead {
		ours, theirs = theirs, ours
	}
	fd := theirs.Fd() // Fd makes the file blocking
	if size > 0 {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size) // refused if the user's limit for pipes is reached; the pipe is then small
	}
	return ours, theirs, nil
}
