package worker

import (
	"context"
	"net"

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
	w.away.Store(!sameMachine(c.LocalAddr(), c.RemoteAddr()))
	if err := w.shuffle.Use(b.Identity, c.LocalAddr()); err != nil {
		_ = c.Close() // nothing was sent on it
		return nil, err
	}
	return c, nil
}

// sameMachine reports whether both ends of a connection are on one machine: they then have the same address, or two of the
// loopback interface.
func sameMachine(a, b net.Addr) bool {
	one, ok := a.(*net.TCPAddr)
	other, too := b.(*net.TCPAddr)
	return ok && too && (one.IP.Equal(other.IP) || one.IP.IsLoopback() && other.IP.IsLoopback())
}
