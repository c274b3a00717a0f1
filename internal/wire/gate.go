package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// helloTime is how long a connection may take to prove itself: the handshake, and the
	// Hello where there is one.
	helloTime = 10 * time.Second
	// maxStrangers is how many connections may be on their way to their proof. One more
	// ends the oldest: workers need a fraction of a second, only strangers sit there.
	maxStrangers = 256
	// acceptPause is how long it is waited when nothing can be accepted, as when the
	// process has no file descriptor left.
	acceptPause = 100 * time.Millisecond
	// maxDismissBytes is how much of a refused peer's talk is listened to.
	maxDismissBytes = 1 << 20
)

// gate lets through what proves itself and keeps strangers out, whatever they do and
// however many they are. Every connection proves itself on its own, so one that says
// nothing holds up nobody.
type gate[P any] struct {
	ln      net.Listener
	proof   func(net.Conn) (P, error) // within helloTime
	drop    func(P)                   // of one that nobody wants any more
	refused func(net.Addr, error)

	proven chan P
	done   chan struct{}
	wg     sync.WaitGroup

	mu       sync.Mutex
	pending  [maxStrangers]net.Conn // without a proof yet; a ring
	next     int
	stopping bool
}

func newGate[P any](ln net.Listener, proof func(net.Conn) (P, error), drop func(P), refused func(net.Addr, error)) *gate[P] {
	g := &gate[P]{ln: ln, proof: proof, drop: drop, refused: refused, proven: make(chan P), done: make(chan struct{})}
	g.wg.Go(g.run)
	return g
}

// accept waits for the next one that has proved itself. Once the gate is closed the error
// is net.ErrClosed.
func (g *gate[P]) accept() (P, error) {
	select {
	case p := <-g.proven:
		return p, nil
	case <-g.done:
		var none P
		return none, net.ErrClosed
	}
}

// close stops listening and drops connections that were not accepted yet.
func (g *gate[P]) close() error {
	g.mu.Lock()
	if g.stopping {
		g.mu.Unlock()
		return nil
	}
	g.stopping = true
	close(g.done)
	for _, c := range g.pending {
		if c != nil {
			c.Close() //nolint:errcheck // a stranger's
		}
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
			g.refused(g.ln.Addr(), fmt.Errorf("accept a connection: %w", err))
			select {
			case <-g.done:
				return
			case <-time.After(acceptPause):
			}
			continue
		}
		if slot, ok := g.admit(raw); ok {
			g.wg.Go(func() { g.prove(raw, slot) })
		}
	}
}

// admit puts a connection among those on their way; the oldest goes if there are too many.
func (g *gate[P]) admit(raw net.Conn) (slot int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopping {
		raw.Close() //nolint:errcheck // a stranger's
		return 0, false
	}
	slot = g.next
	g.next = (g.next + 1) % maxStrangers
	if old := g.pending[slot]; old != nil {
		old.Close() //nolint:errcheck // a stranger's
	}
	g.pending[slot] = raw
	return slot, true
}

// settle takes a connection out of those on their way.
func (g *gate[P]) settle(raw net.Conn, slot int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending[slot] == raw {
		g.pending[slot] = nil
	}
}

// prove takes a connection to its proof and hands it to accept, or ends it.
func (g *gate[P]) prove(raw net.Conn, slot int) {
	p, err := g.proof(raw)
	if err != nil {
		g.refused(raw.RemoteAddr(), err)
		dismiss(raw)
		g.settle(raw, slot)
		return
	}
	g.settle(raw, slot)
	select {
	case g.proven <- p:
	case <-g.done:
		g.drop(p)
	}
}

// dismiss closes a connection that was refused. It first lets the peer read why: to
// close with its bytes unread would reset the connection and drop what was sent.
func dismiss(raw net.Conn) {
	if tcp, ok := raw.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		raw.SetDeadline(time.Now().Add(lingerTime))               //nolint:errcheck // a stranger's
		io.Copy(io.Discard, io.LimitReader(raw, maxDismissBytes)) //nolint:errcheck // a stranger's
	}
	raw.Close() //nolint:errcheck // a stranger's
}

// Guard returns a listener that lets through only connections whose handshake is done, and
// bounds those that are on their way to it, as Listen does: a server behind it holds no
// descriptor for longer, and no more of them, than its own peers need. Connections that are
// refused are told to refused.
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
	drop := func(c net.Conn) { c.Close() } //nolint:errcheck // nobody wants it any more
	return &guarded{newGate(ln, shake, drop, refused)}
}

// guarded is a gate as a net.Listener.
type guarded struct{ *gate[net.Conn] }

func (g *guarded) Accept() (net.Conn, error) { return g.accept() }
func (g *guarded) Close() error              { return g.close() }
func (g *guarded) Addr() net.Addr            { return g.ln.Addr() }
