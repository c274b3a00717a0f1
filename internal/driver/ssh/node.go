package ssh

import (
	"context"
	"net"
	"sync"

	"github.com/hashicorp/yamux"

	"berth/internal/core/job"
	"berth/internal/node/transfer"
	"berth/internal/sys/private"
	"berth/internal/wire"
)

// Hosts need not reach each other. Data between workers goes through the user's machine. There the processes that hold the two
// workers connect through a Unix socket in the allocation's folder:
//
//	worker B ─ stream ─► Hold of B ─ socket of A ─► Hold of A ─ stream ─► worker A
//
// TLS with the workers' keys goes from end to end, as on a network.

// meet passes connections from other nodes on to the worker until the session has ended.
func (h *holder) meet(session *yamux.Session) error {
	path, err := wire.NodeSocket(h.config.Bundle, wire.NodeAddress(h.config.Node))
	if err != nil {
		return err
	}
	l, err := private.Listen(path)
	if err != nil {
		return job.IOError(job.Transient, path, "cannot listen for other hosts' workers", err)
	}
	go func() {
		<-session.CloseChan()
		_ = l.Close() // the next holder of this rank's worker removes the socket
	}()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				stream, err := open(session, forOutputs)
				if err != nil {
					_ = c.Close()
					return
				}
				join(c, stream)
			}()
		}
	}()
	return nil
}

// reach passes a connection of the worker on to another node.
func (h *holder) reach(stream net.Conn, addr string) {
	path, err := wire.NodeSocket(h.config.Bundle, addr)
	if err != nil {
		h.log.Warn("the worker asks for an unknown node", "err", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	c, err := private.Dial(ctx, path)
	if err != nil {
		h.log.Debug("node not reached", "addr", addr, "err", err)
		return
	}
	join(c, stream)
}

// Tunnel connects a worker on a host with its coordinator and with other workers.
type Tunnel struct {
	session *yamux.Session
	nodes   *arrivals

	Files *transfer.Client // fetches and stores files of jobs; nil: the host sees the folders of jobs
	Cache *transfer.Cache  // copies of these files
}

// DialCoordinator connects to the coordinator.
func (t *Tunnel) DialCoordinator(ctx context.Context, b *wire.Bundle) (*wire.Conn, error) {
	stream, err := open(t.session, forCoordinator)
	if err != nil {
		return nil, job.IOError(job.Transient, "coordinator", "the connection that started this worker has ended", err)
	}
	return wire.DialOver(ctx, stream, "coordinator", b.Identity)
}

// DialNode connects to another worker at the address of its listener (Nodes).
func (t *Tunnel) DialNode(_ context.Context, _, addr string) (net.Conn, error) {
	return open(t.session, forNode+addr)
}

// Nodes returns the listener for connections of other workers.
func (t *Tunnel) Nodes() net.Listener { return t.nodes }

// arrivals is a listener for streams inside the tunnel.
type arrivals struct {
	addr   string
	come   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newArrivals(node job.NodeID) *arrivals {
	return &arrivals{addr: wire.NodeAddress(node), come: make(chan net.Conn), closed: make(chan struct{})}
}

// put hands a stream to Accept.
func (a *arrivals) put(stream net.Conn) {
	select {
	case a.come <- stream:
	case <-a.closed:
		_ = stream.Close()
	}
}

// Accept waits for the next stream. It returns net.ErrClosed once the listener is closed.
func (a *arrivals) Accept() (net.Conn, error) {
	select {
	case c := <-a.come:
		return c, nil
	case <-a.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the listener.
func (a *arrivals) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}

// Addr returns the address at which other workers reach this one.
func (a *arrivals) Addr() net.Addr { return a }

// Network returns the name of the tunnels' addresses.
func (a *arrivals) Network() string { return "tunnel" }

func (a *arrivals) String() string { return a.addr }
