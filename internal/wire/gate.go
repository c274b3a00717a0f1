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

	"berth/internal/sys/crowd"
)

const (
	// helloTime is how long a connection may take to begin its handshake, and then to authenticate: the handshake, and the
	// Hello if there is one.
	helloTime = 10 * time.Second
	// maxHandshakes is the largest number of handshakes at once. If thousands of workers connect, theirs take seconds
	// together; so that each ends in time, the others wait.
	maxHandshakes = 256
	// acceptPause is the pause after a failed accept.
	acceptPause = 100 * time.Millisecond
	// maxDismissBytes is how many bytes of a refused peer are read before its connection is closed.
	maxDismissBytes = 1 << 20
)

var (
	errStranger = errors.New("the peer has no keys of this coordinator")
	errCrowded  = errors.New("closed for others: too many connections wait that have not shown any keys")
)

// gate accepts connections that authenticate themselves and closes all others. Each connection authenticates in its own
// goroutine, so one that sends nothing does not delay the others.
//
// A peer with keys says so in the first message of its handshake (knock). Until then a connection is in the crowd, costs
// no cryptography, and may be closed to make room for another one.
type gate struct {
	net.Listener
	proof   func(conn net.Conn, knocked func() error) (net.Conn, error) // authenticates a connection, and calls knocked once its peer has knocked
	refused func(net.Addr, error)

	crowd  *crowd.Crowd
	turns  chan struct{} // has one element for each handshake
	proven chan net.Conn
	ctx    context.Context
	end    context.CancelFunc
	wg     sync.WaitGroup
}

func newGate(ln net.Listener, proof func(net.Conn, func() error) (net.Conn, error), refused func(net.Addr, error)) *gate {
	g := &gate{Listener: ln, proof: proof, refused: refused, crowd: crowd.New(), turns: make(chan struct{}, maxHandshakes), proven: make(chan net.Conn)}
	g.ctx, g.end = context.WithCancel(context.Background())
	g.wg.Go(g.run)
	return g
}

// Accept waits for the next authenticated connection. After Close the error is net.ErrClosed.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case c := <-g.proven:
		return c, nil
	case <-g.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close stops listening and closes connections that were not accepted yet.
func (g *gate) Close() error {
	if g.ctx.Err() != nil {
		return nil
	}
	g.end()
	err := g.Listener.Close()
	g.wg.Wait()
	return err
}

// run accepts connections until the gate is closed.
func (g *gate) run() {
	for {
		raw, err := g.Listener.Accept()
		switch {
		case err == nil:
			if !g.crowd.Enter(g.ctx.Done(), raw) {
				raw.Close() //nolint:errcheck // the peer has not authenticated
				return
			}
			g.wg.Go(func() { g.prove(raw) })
		case g.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default:
			g.refused(g.Addr(), fmt.Errorf("cannot accept a connection: %w", err))
			if g.crowd.Thin() {
				continue
			}
			select {
			case <-g.ctx.Done():
			case <-time.After(acceptPause):
			}
		}
	}
}

// prove authenticates a connection and passes it to Accept, or closes it.
func (g *gate) prove(raw net.Conn) {
	defer context.AfterFunc(g.ctx, func() { raw.Close() })() //nolint:errcheck // the peer has not authenticated
	var known, turn bool
	c, err := g.proof(raw, func() error {
		if known = g.crowd.Leave(raw); !known {
			return errCrowded
		}
		select {
		case g.turns <- struct{}{}:
			turn = true
			return nil
		case <-g.ctx.Done():
			return net.ErrClosed
		}
	})
	if turn {
		<-g.turns
	}
	if !known && !g.crowd.Leave(raw) {
		err = errCrowded
	}
	if err != nil {
		g.refused(raw.RemoteAddr(), err)
		if known {
			dismiss(raw)
		}
		raw.Close() //nolint:errcheck // the peer has not authenticated
		return
	}
	select {
	case g.proven <- c:
	case <-g.ctx.Done():
		c.Close() //nolint:errcheck // it is no longer wanted
	}
}

// dismiss gives a refused peer time to read the reason before its connection is closed: closing while its bytes are unread
// would reset the connection and discard what was sent.
func dismiss(raw net.Conn) {
	if c, ok := raw.(interface{ CloseWrite() error }); ok && c.CloseWrite() == nil {
		raw.SetDeadline(time.Now().Add(lingerTime))               //nolint:errcheck // the peer has not authenticated
		io.Copy(io.Discard, io.LimitReader(raw, maxDismissBytes)) //nolint:errcheck // the peer has not authenticated
	}
}

// shake performs a server's handshake on a connection, whose deadline the caller sets. The configuration is asked for once the
// peer has sent its first message. It must have knocked with that configuration's keys.
func shake(conn net.Conn, config func() *tls.Config, knocked func() error) (*tls.Conn, error) {
	var nc *tls.Conn
	nc = tls.Server(conn, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		c := config()
		if !slices.Contains(hello.SupportedProtos, c.NextProtos[1]) {
			return nil, errStranger
		}
		if err := knocked(); err != nil {
			return nil, err
		}
		return c, nc.SetDeadline(time.Now().Add(helloTime))
	}})
	if err := nc.SetDeadline(time.Now().Add(helloTime)); err != nil {
		return nil, err
	}
	return nc, nc.HandshakeContext(context.Background())
}

// Guard returns a listener that accepts only connections whose handshake has succeeded. Like Listen
// it bounds the number and the duration of unfinished handshakes, so that other peers cannot use up
// the server's descriptors. It calls refused for each connection that it refuses.
func Guard(ln net.Listener, config func() *tls.Config, refused func(net.Addr, error)) net.Listener {
	return newGate(ln, func(raw net.Conn, knocked func() error) (net.Conn, error) {
		nc, err := shake(raw, config, knocked)
		if err != nil {
			return nil, err
		}
		return nc, nc.SetDeadline(time.Time{})
	}, refused)
}
