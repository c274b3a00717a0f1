package worker

import (
	"context"
	"net"

	"berth/internal/core/job"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/sys/private"
	"berth/internal/wire"
)

// dial connects to the coordinator. It reads the bundle again, because a new coordinator has another address.
func (w *worker) dial(ctx context.Context) (conn, error) {
	b, err := wire.LoadBundle(w.cfg.Bundle)
	if err != nil {
		return nil, err
	}
	dial := wire.Dial
	if w.cfg.Tunnel != nil {
		dial = w.cfg.Tunnel.DialCoordinator
	}
	c, err := dial(ctx, b)
	if err != nil {
		return nil, err
	}
	if _, here := c.LocalAddr().(*net.UnixAddr); here && w.shuffle.Tunnel == nil {
		if w.shuffle.Tunnel, err = listenHere(w.cfg.Bundle, w.cfg.Node); err != nil {
			_ = c.Close() // nothing was sent on it
			return nil, err
		}
	}
	w.away.Store(!sameMachine(c.LocalAddr(), c.RemoteAddr()))
	if err := w.shuffle.Use(b.Identity, c.LocalAddr()); err != nil {
		_ = c.Close() // nothing was sent on it
		return nil, err
	}
	return c, nil
}

// sameMachine reports whether both ends of a connection are on one machine: they then are those of a Unix socket, have the same
// address, or two of the loopback interface.
func sameMachine(a, b net.Addr) bool {
	if _, is := a.(*net.UnixAddr); is {
		return true
	}
	one, ok := a.(*net.TCPAddr)
	other, too := b.(*net.TCPAddr)
	return ok && too && (one.IP.Equal(other.IP) || one.IP.IsLoopback() && other.IP.IsLoopback())
}

// here connects workers of one machine by Unix sockets.
type here struct {
	net.Listener
	bundle string
	node   job.NodeID
}

// listenHere listens for the other workers of this machine.
func listenHere(bundle string, node job.NodeID) (shuffle.Tunnel, error) {
	path, err := wire.NodeSocket(bundle, wire.NodeAddress(node))
	if err != nil {
		return nil, err
	}
	l, err := private.Listen(path)
	if err != nil {
		return nil, job.IOError(job.Transient, path, "map outputs cannot be served", err)
	}
	return here{l, bundle, node}, nil
}

// Nodes returns the listener for the other workers.
func (h here) Nodes() net.Listener { return h }

// Addr returns the address of this worker among those of the machine.
func (h here) Addr() net.Addr { return &net.UnixAddr{Name: wire.NodeAddress(h.node), Net: "unix"} }

// DialNode connects to another worker of this machine.
func (h here) DialNode(ctx context.Context, _, addr string) (net.Conn, error) {
	path, err := wire.NodeSocket(h.bundle, addr)
	if err != nil {
		return nil, err
	}
	return private.Dial(ctx, path)
}
