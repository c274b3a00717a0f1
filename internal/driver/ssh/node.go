package ssh

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/yamux"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
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

// nodeAddr returns the address of a node, such as "0.a1:1" for a1/0. It has the form host:port, as HTTP needs, and is no address of any network.
func nodeAddr(n job.NodeID) string {
	_, rank, _ := strings.Cut(string(n), "/")
	return rank + "." + string(n.Alloc()) + ":1"
}

var nodeAddrPattern = pattern.Lazy(`^([0-9]{1,9})\.([A-Za-z0-9_-]+):1$`)

// longestAlloc is the longest id of an allocation. It is not part of the pattern, as a pattern with large counts is slow to compile.
const longestAlloc = 64

// socketEnd is the suffix of a rank's socket.
const socketEnd = ".sock"

// socketOf returns the socket of the node with an address. bundle is the path of any worker's keys, as the folders of all allocations are side by
// side. Hosts send the address, so it must not lead to any other file.
func socketOf(bundle, addr string) (string, error) {
	m := nodeAddrPattern().FindStringSubmatch(addr)
	if m == nil || len(m[2]) > longestAlloc {
		return "", fmt.Errorf("%q is not an address of a node", addr)
	}
	return filepath.Join(filepath.Dir(filepath.Dir(bundle)), m[2], m[1]+socketEnd), nil
}

// meet passes connections from other nodes on to the worker until the session has ended.
func (h *holder) meet(session *yamux.Session) error {
	path, err := socketOf(h.config.Bundle, nodeAddr(h.config.Node))
	if err != nil {
		return err
	}
	l, err := private.Listen(path)
	if err != nil {
		return &job.Error{Class: job.Transient, Code: job.CodeIO, Where: path, What: "cannot listen for other hosts' workers", Err: err}
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
	path, err := socketOf(h.config.Bundle, addr)
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
		return nil, &job.Error{Class: job.Transient, Code: job.CodeIO, Where: "coordinator", What: "the connection that started this worker has ended", Err: err}
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
	return &arrivals{addr: nodeAddr(node), come: make(chan net.Conn), closed: make(chan struct{})}
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
