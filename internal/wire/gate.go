package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// helloTime is how long a connection may take to authenticate: the handshake, and the Hello if
	// there is one.
	helloTime = 10 * time.Second
	// maxStrangers is the largest number of connections that have not authenticated yet. One more waits
	// in the kernel's queue until another one is through: if thousands of workers connect at once, their
	// handshakes take seconds together.
	maxStrangers = 256
	// strangerTime is how old a connection must be that is closed for the next one that waits. Beside
	// maxStrangers others a worker needs a fraction of it.
	strangerTime = time.Second
	// acceptPause is the pause after a failed accept, for example when the process has no free file
	// descriptor.
	acceptPause = 100 * time.Millisecond
	// maxDismissBytes is how many bytes of a refused peer are read before its connection is closed.
	maxDismissBytes = 1 << 20
)

// gate accepts connections that authenticate themselves and closes all others. Each connection
// authenticates in its own goroutine, so one that sends nothing does not delay the others.
type gate[P any] struct {
	ln      net.Listener
	proof   func(net.Conn) (P, error) // authenticates a connection, within helloTime
	drop    func(P)                   // closes a connection that is no longer wanted
	refused func(net.Addr, error)

	proven chan P
	done   chan struct{}
	wg     sync.WaitGroup

	freed chan struct{} // holds a token when a connection has left pending

	mu       sync.Mutex
	pending  []stranger // connections that have not authenticated yet, at most maxStrangers, the oldest first
	stopping bool
}

// stranger is a connection that has not authenticated yet.
type stranger struct {
	conn  net.Conn
	since time.Time
}

func newGate[P any](ln net.Listener, proof func(net.Conn) (P, error), drop func(P), refused func(net.Addr, error)) *gate[P] {
	g := &gate[P]{ln: ln, proof: proof, drop: drop, refused: refused, proven: make(chan P), done: make(chan struct{}), freed: make(chan struct{}, 1)}
	g.wg.Go(g.run)
	return g
}

// accept waits for the next authenticated connection. After close the error is net.ErrClosed.
func (g *gate[P]) accept() (P, error) {
	select {
	case p := <-g.proven:
		return p, nil
	case <-g.done:
		var none P
		return none, net.ErrClosed
	}
}

// close stops listening and closes connections that were not accepted yet.
func (g *gate[P]) close() error {
	g.mu.Lock()
	if g.stopping {
		g.mu.Unlock()
		return nil
	}
	g.stopping = true
	close(g.done)
	for _, s := range g.pending {
		s.conn.Close() //nolint:errcheck // the peer has not authenticated
	}
	g.mu.Unlock()
	err := g.ln.Close()
	g.wg.Wait()
	return err
}

// run accepts connections until the gate is closed.
func (g *gate[P]) run() {
	for {
		raw, err := g.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			g.refused(g.ln.Addr(), fmt.Errorf("cannot accept a connection: %w", err))
			select {
			case <-g.done:
				return
			case <-time.After(acceptPause):
			}
			continue
		}
		if !g.admit(raw) {
			return
		}
		g.wg.Go(func() { g.prove(raw) })
	}
}

// admit adds a connection to pending, once there is room or the oldest one there has had its time. It returns false if
// the gate is closed.
func (g *gate[P]) admit(raw net.Conn) bool {
	for {
		wait, ok := g.tryAdmit(raw)
		if ok || wait == 0 {
			return ok
		}
		select {
		case <-g.freed:
		case <-g.done:
		case <-time.After(wait):
		}
	}
}

// tryAdmit is admit without waiting. If it returns false, there is room after that time at the latest; 0: the gate is closed.
func (g *gate[P]) tryAdmit(raw net.Conn) (wait time.Duration, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopping {
		raw.Close() //nolint:errcheck // the peer has not authenticated
		return 0, false
	}
	if len(g.pending) == maxStrangers {
		if wait := strangerTime - time.Since(g.pending[0].since); wait > 0 {
			return wait, false
		}
		g.pending[0].conn.Close() //nolint:errcheck // the peer has not authenticated
		g.pending = slices.Delete(g.pending, 0, 1)
	}
	g.pending = append(g.pending, stranger{raw, time.Now()})
	return 0, true
}

// remove removes a connection from pending.
func (g *gate[P]) remove(raw net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pending = slices.DeleteFunc(g.pending, func(s stranger) bool { return s.conn == raw })
	select {
	case g.freed <- struct{}{}:
	default: // the token is there
	}
}

// prove authenticates a connection and passes it to accept, or closes it.
func (g *gate[P]) prove(raw net.Conn) {
	p, err := g.proof(raw)
	if err != nil {
		g.refused(raw.RemoteAddr(), err)
		dismiss(raw)
		g.remove(raw)
		return
	}
	g.remove(raw)
	select {
	case g.proven <- p:
	case <-g.done:
		g.drop(p)
	}
}

// dismiss closes a refused connection. It first gives the peer time to read the reason: closing
// while its bytes are unread would reset the connection and discard what was sent.
func dismiss(raw net.Conn) {
	if tcp, ok := raw.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		raw.SetDeadline(time.Now().Add(lingerTime))               //nolint:errcheck // the peer has not authenticated
		io.Copy(io.Discard, io.LimitReader(raw, maxDismissBytes)) //nolint:errcheck // the peer has not authenticated
	}
	raw.Close() //nolint:errcheck // the peer has not authenticated
}

// Guard returns a listener that accepts only connections whose handshake has succeeded. Like Listen
// it bounds the number and the duration of unfinished handshakes, so that other peers cannot use up
// the server's descriptors. It calls refused for each connection that it refuses.
func Guard(ln net.Listener, config *tls.Config, refused func(net.Addr, error)) net.Listener {
	shake := func(raw net.Conn) (net.Conn, error) {
		nc := tls.Server(raw, config)
		if err := nc.SetDeadline(time.Now().Add(helloTime)); err != nil {
			return nil, err
		}
		if err := nc.HandshakeContext(context.Background()); err != nil {
			return nil, err
		}
		return nc, nc.SetDeadline(time.Time{})
	}
	drop := func(c net.Conn) { c.Close() } //nolint:errcheck // the connection is no longer wanted
	return &guarded{newGate(ln, shake, drop, refused)}
}

// guarded is a gate as a net.Listener.
type guarded struct{ *gate[net.Conn] }

func (g *guarded) Accept() (net.Conn, error) { return g.accept() }
func (g *guarded) Close() error              { return g.close() }
func (g *guarded) Addr() net.Addr            { return g.ln.Addr() }
