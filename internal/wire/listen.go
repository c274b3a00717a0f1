package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/private"
)

// Listener accepts connections of workers and refuses all others.
type Listener struct {
	gate   *gate[peer]
	config func() *tls.Config
}

// peer is a worker whose Hello was received.
type peer struct {
	conn  *Conn
	hello *Hello
}

// Listen listens for workers on an address of a bundle, with the coordinator's keys. It calls refused with
// the address and the reason for each connection that it refuses. refused may be called from
// several goroutines and must not block.
func Listen(addr string, id *Identity, refused func(net.Addr, error)) (*Listener, error) {
	listen := private.Listen
	if !isPath(addr) {
		listen = func(addr string) (net.Listener, error) {
			return (&net.ListenConfig{KeepAlive: keepAlive}).Listen(context.Background(), "tcp", addr)
		}
	}
	ln, err := listen(addr)
	if err != nil {
		return nil, job.IOError(job.Fatal, addr, "cannot listen for workers", err)
	}
	return newListener(ln, ServerTLS(id), refused), nil
}

func newListener(ln net.Listener, config *tls.Config, refused func(net.Addr, error)) *Listener {
	l := &Listener{config: func() *tls.Config { return config }}
	drop := func(p peer) { p.conn.Close() } //nolint:errcheck // the connection is no longer wanted
	l.gate = newGate(ln, l.greet, drop, refused)
	return l
}

// Addr returns the address on which it listens.
func (l *Listener) Addr() net.Addr { return l.gate.ln.Addr() }

// Accept waits for the next worker and returns its connection and its Hello. The node in the Hello
// is that of the worker's certificate. After Close the error is net.ErrClosed.
func (l *Listener) Accept() (*Conn, *Hello, error) {
	p, err := l.gate.accept()
	return p.conn, p.hello, err
}

// Close stops listening and closes connections that were not accepted yet.
func (l *Listener) Close() error { return l.gate.close() }

// greet performs the handshake and reads the Hello, within helloTime.
func (l *Listener) greet(raw net.Conn, knocked func() error) (peer, error) {
	nc, err := shake(newTransport(raw), l.config, knocked)
	if err != nil {
		return peer{}, refused(raw.RemoteAddr().String(), err)
	}
	c := NewConn(nc)
	m, err := c.Recv()
	if err != nil {
		return peer{}, err
	}
	hello, ok := m.(*Hello)
	if !ok {
		return peer{}, c.garbage(fmt.Errorf("the peer sent %T before Hello", m))
	}
	if err := c.checkHello(hello); err != nil {
		return peer{}, errors.Join(err, c.Send(&Shutdown{Reason: err.Error()}))
	}
	return peer{c, hello}, nc.SetDeadline(time.Time{})
}

// checkHello refuses a Hello of another version, or for another node than that of the certificate.
func (c *Conn) checkHello(h *Hello) error {
	if h.Version != Version {
		return &job.Error{
			Class: job.Fatal, Where: c.peer,
			What: fmt.Sprintf("the worker speaks version %d of the protocol, the coordinator version %d", h.Version, Version),
			Do:   "install the same version of berth on every node",
		}
	}
	node, err := PeerNode(c)
	if err != nil {
		return err
	}
	if node != h.Node {
		return &job.Error{Class: job.Fatal, Where: c.peer, What: fmt.Sprintf("the worker names itself %q, but its keys were issued for %q", h.Node, node)}
	}
	return nil
}
