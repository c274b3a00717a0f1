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
type Listener struct{ *gate }

// peer is the connection of a worker whose Hello was received.
type peer struct {
	net.Conn
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
	return &Listener{newGate(ln, func(raw net.Conn, knocked func() error) (net.Conn, error) { return greet(raw, config, knocked) }, refused)}
}

// Accept waits for the next worker and returns its connection and its Hello. The node in the Hello
// is that of the worker's certificate. After Close the error is net.ErrClosed.
func (l *Listener) Accept() (*Conn, *Hello, error) {
	c, err := l.gate.Accept()
	if err != nil {
		return nil, nil, err
	}
	p := c.(peer)
	return p.conn, p.hello, nil
}

// greet performs the handshake and reads the Hello, within helloTime.
func greet(raw net.Conn, config *tls.Config, knocked func() error) (p peer, err error) {
	nc, err := shake(newTransport(raw), func() *tls.Config { return config }, knocked)
	if err != nil {
		return p, refused(raw.RemoteAddr().String(), err)
	}
	c := NewConn(nc)
	m, err := c.Recv()
	if err != nil {
		return p, err
	}
	hello, ok := m.(*Hello)
	if !ok {
		return p, c.garbage(fmt.Errorf("the peer sent %T before Hello", m))
	}
	if err := c.checkHello(hello); err != nil {
		return p, errors.Join(err, c.Send(&Shutdown{Reason: err.Error()}))
	}
	return peer{nc, c, hello}, nc.SetDeadline(time.Time{})
}

// checkHello refuses a Hello of another version, or for another node than that of the certificate.
func (c *Conn) checkHello(h *Hello) error {
	if h.Version != Version {
		return job.FatalError(c.peer, fmt.Sprintf("the worker speaks version %d of the protocol, the coordinator version %d", h.Version, Version), nil).
			Advice("install the same version of berth on every node")
	}
	node, err := PeerNode(c)
	if err != nil {
		return err
	}
	if node != h.Node {
		return job.FatalError(c.peer, fmt.Sprintf("the worker names itself %q, but its keys were issued for %q", h.Node, node), nil)
	}
	return nil
}
