package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// maxBacklog is how many bytes may wait for a peer that does not read, before its connection is
	// closed.
	maxBacklog = 64 << 20
	// lingerTime is how long the peer may read nothing after Close before the rest of the backlog is dropped.
	lingerTime = 5 * time.Second
	// lingerPiece is the number of bytes of the backlog that a peer that still reads takes in that time.
	lingerPiece = 256 << 10
)

// transport is a TCP connection whose Write never waits. Usually the kernel accepts all bytes at
// once, and Write is one system call. The rest is kept in a backlog, which a goroutine writes.
//
// So a worker that was stopped, or whose machine has failed, cannot block the coordinator's loop.
type transport struct {
	net.Conn // the TCP connection, for everything except Write and Close
	raw      syscall.RawConn
	limit    int // of the backlog, bytes

	mu       sync.Mutex
	backlog  []byte // accepted by Write and not yet taken by drain
	draining bool   // drain is running
	closed   bool
	err      error // the error that ended writing
}

// newTransport wraps a connection. A connection that is not a socket (a pipe in a test) is returned
// unchanged.
func newTransport(c net.Conn) net.Conn {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return c
	}
	return &transport{Conn: c, raw: raw, limit: maxBacklog}
}

// Write accepts all of p or fails. It does not wait for the peer.
func (t *transport) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil && t.closed {
		t.err = net.ErrClosed
	}
	if t.err != nil {
		return 0, t.err
	}
	if t.draining {
		return t.keep(p)
	}
	n, err := t.try(p)
	if err != nil {
		t.err = err
		return n, err
	}
	if n < len(p) {
		t.backlog = append(t.backlog, p[n:]...)
		t.draining = true
		go t.drain()
	}
	return len(p), nil
}

// keep appends p to the backlog.
func (t *transport) keep(p []byte) (int, error) {
	if len(t.backlog) > t.limit {
		t.err = fmt.Errorf("the peer does not read: %d bytes wait for it", len(t.backlog))
		return 0, errors.Join(t.err, t.Conn.Close())
	}
	t.backlog = append(t.backlog, p...)
	return len(p), nil
}

// try writes as much as the kernel accepts without waiting.
func (t *transport) try(p []byte) (n int, err error) {
	outer := t.raw.Write(func(fd uintptr) bool {
		for n < len(p) {
			var k int
			k, err = syscall.Write(int(fd), p[n:])
			if err == syscall.EINTR {
				continue
			}
			if err != nil {
				break
			}
			n += k
		}
		return true
	})
	switch {
	case outer != nil:
		return n, outer
	case err == syscall.EAGAIN:
		return n, nil
	case err != nil:
		return n, os.NewSyscallError("write", err)
	}
	return n, nil
}

// drain writes the backlog, piece by piece, and waits for the peer, until the backlog is empty. After Close it waits for lingerTime at each
// piece.
func (t *transport) drain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.backlog) > 0 && t.err == nil {
		if t.closed {
			t.linger()
		}
		n := min(len(t.backlog), lingerPiece)
		piece := t.backlog[:n]
		t.backlog = t.backlog[n:]
		t.mu.Unlock()
		_, err := t.Conn.Write(piece)
		t.mu.Lock()
		if err != nil {
			t.err = errors.Join(err, t.Conn.Close()) // closing wakes the reader as well
		}
	}
	t.draining, t.backlog = false, nil
	if t.closed {
		t.Conn.Close() //nolint:errcheck // Close has returned, so nobody can receive the error
	}
}

// linger gives the peer lingerTime to read the next piece.
func (t *transport) linger() { _ = t.Conn.SetWriteDeadline(time.Now().Add(lingerTime)) } // if it is closed, Write says so

// SetDeadline sets the deadline for reading. Write does not wait and needs none.
func (t *transport) SetDeadline(at time.Time) error { return t.Conn.SetReadDeadline(at) }

// SetWriteDeadline does nothing: Write does not wait, and the TLS layer must not shorten the time
// of drain when it closes.
func (t *transport) SetWriteDeadline(time.Time) error { return nil }

// Close closes the connection. The backlog is still written as long as the peer reads.
func (t *transport) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	if !t.draining {
		return t.Conn.Close()
	}
	t.linger()
	return t.Conn.SetReadDeadline(time.Now())
}
