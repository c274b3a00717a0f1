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
	// maxBacklog is how many bytes wait for a peer that does not read before its
	// connection is given up.
	maxBacklog = 64 << 20
	// lingerTime is how long Close goes on with what waits for the peer.
	lingerTime = 5 * time.Second
)

// transport is a TCP connection whose Write never waits. While the kernel takes
// what is written, as it nearly always does, Write is one system call. What it does
// not take is kept, and a goroutine sees it off.
//
// So a worker that was stopped, or whose machine is gone, cannot hold up the
// coordinator's one loop.
type transport struct {
	net.Conn // the TCP connection, for all but Write and Close
	raw      syscall.RawConn
	limit    int // of the backlog, in bytes

	mu       sync.Mutex
	backlog  []byte // accepted by Write and not yet taken by drain
	draining bool   // drain runs
	closed   bool
	err      error // that ended writing
}

// newTransport wraps a connection; one that is no socket (a pipe in a test) is
// returned as it is.
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

// Write takes all of p or fails; it does not wait for the peer.
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

// keep puts p behind what waits already.
func (t *transport) keep(p []byte) (int, error) {
	if len(t.backlog) > t.limit {
		t.err = fmt.Errorf("the peer does not read: %d bytes wait for it", len(t.backlog))
		return 0, errors.Join(t.err, t.Conn.Close())
	}
	t.backlog = append(t.backlog, p...)
	return len(p), nil
}

// try writes what the kernel takes at once.
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

// drain writes the backlog, waiting for the peer, until there is none.
func (t *transport) drain() {
	var chunk []byte
	for {
		t.mu.Lock()
		if len(t.backlog) == 0 || t.err != nil {
			t.draining = false
			t.backlog = nil
			if t.closed {
				t.Conn.Close() //nolint:errcheck // Close has returned; nobody is left to tell
			}
			t.mu.Unlock()
			return
		}
		chunk, t.backlog = t.backlog, chunk[:0]
		t.mu.Unlock()
		if _, err := t.Conn.Write(chunk); err != nil {
			t.mu.Lock()
			t.err = errors.Join(err, t.Conn.Close()) // wakes the reader, too
			t.mu.Unlock()
		}
	}
}

// SetDeadline sets the deadline for reading; Write does not wait, so it has none.
func (t *transport) SetDeadline(at time.Time) error { return t.Conn.SetReadDeadline(at) }

// SetWriteDeadline does nothing: Write does not wait, and what drain writes must not
// be cut short by the TLS layer's closing.
func (t *transport) SetWriteDeadline(time.Time) error { return nil }

// Close closes the connection; what waits for the peer has a moment to get there.
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
	now := time.Now()
	return errors.Join(t.Conn.SetReadDeadline(now), t.Conn.SetWriteDeadline(now.Add(lingerTime)))
}
