package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

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

// pipeEnd is the worker's end of a program's standard input or output. It moves
// data with plain system calls on the calling thread: the runtime's poller would
// wake another goroutine, and often another thread, for each piece.
type pipeEnd struct {
	fd       int
	cancel   *canceller
	activity *activity
}

// canceller makes pipe ends give up.
type canceller struct{ fd int }

func newCanceller() (*canceller, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make an event descriptor: %w", err)
	}
	return &canceller{fd}, nil
}

// cancel wakes who waits; from then on nobody waits.
func (c *canceller) cancel() {
	_, _ = unix.Write(c.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // fails only once it was called very often
}

func (c *canceller) close() { _ = unix.Close(c.fd) }

var errGivenUp = errors.New("the pipe was given up")

// wait blocks until the pipe is ready or given up.
func (p *pipeEnd) wait(events int16) error {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: events}, {Fd: int32(p.cancel.fd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("poll", err)
		case fds[0].Revents != 0:
			return nil // what is there goes before giving up
		default:
			return errGivenUp
		}
	}
}

// Read reads what the program wrote.
func (p *pipeEnd) Read(b []byte) (int, error) {
	p.activity.busy.Add(-1)
	defer p.activity.busy.Add(1)
	for {
		n, err := unix.Read(p.fd, b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if err := p.wait(unix.POLLIN); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			p.activity.count.Add(1)
			return n, nil
		}
	}
}

// Write writes what the program shall read.
func (p *pipeEnd) Write(b []byte) (done int, err error) {
	p.activity.busy.Add(-1)
	defer p.activity.busy.Add(1)
	for done < len(b) {
		n, err := unix.Write(p.fd, b[done:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if err := p.wait(unix.POLLOUT); err != nil {
				return done, err
			}
		case err != nil:
			return done, os.NewSyscallError("write", err)
		default:
			done += n
			p.activity.count.Add(1)
		}
	}
	return done, nil
}

// enough reports whether an error means that the program wants no more input.
func enough(err error) bool { return errors.Is(err, unix.EPIPE) || errors.Is(err, errGivenUp) }

func (p *pipeEnd) Close() error { return unix.Close(p.fd) }

// pipe makes a pipe. Our end does not block, theirs does, as programs expect.
func pipe(weRead bool, size int) (ours, theirs int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, fmt.Errorf("make a pipe: %w", err)
	}
	if size > 0 {
		_, _ = unix.FcntlInt(uintptr(fds[0]), unix.F_SETPIPE_SZ, size) // refused where the user's pipes are used up: it is small then
	}
	ours, theirs = fds[1], fds[0]
	if weRead {
		ours, theirs = fds[0], fds[1]
	}
	if err := unix.SetNonblock(ours, true); err != nil {
		return -1, -1, errors.Join(err, unix.Close(ours), unix.Close(theirs))
	}
	return ours, theirs, nil
}
