package shuffle

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"berth/internal/core/job"
	"berth/internal/wire"
)

const (
	fetchDial   = 10 * time.Second
	fetchHeader = 30 * time.Second
	fetchStall  = 60 * time.Second
	keepIdle    = 16 * copiers // idle connections to each node: as many as the reduces of a node use at once
)

// Tunnel connects nodes that cannot reach each other by the network. The addresses of nodes are those of the tunnel.
type Tunnel interface {
	// Nodes returns the listener for connections of other nodes. Its address is that of this node in the tunnel.
	Nodes() net.Listener
	// DialNode connects to the node with this address.
	DialNode(ctx context.Context, network, addr string) (net.Conn, error)
}

// Node is a node's part in the shuffle: it serves the map outputs of its store and fetches those of other
// nodes.
type Node struct {
	Store  *Store
	Tunnel Tunnel       // to other nodes; nil: they are reached by the network
	Gangs  http.Handler // serves GangRoute to other nodes; nil: nothing does
	id     job.NodeID
	log    *slog.Logger
	stall  time.Duration // a fetch fails after this time without data

	mu     sync.Mutex
	addr   string            // host:port that other nodes are given; empty before the first call of Use
	served map[string]string // by host: the address that serves
	server *http.Server
	keys   *wire.Identity
	client *http.Client
}

// NewNode opens the store of a node in the folder dir. The node serves nothing before Use.
func NewNode(id job.NodeID, dir string, log *slog.Logger) (*Node, error) {
	store, err := OpenStore(dir)
	if err != nil {
		return nil, err
	}
	return &Node{Store: store, id: id, log: log, stall: fetchStall, served: make(map[string]string)}, nil
}

// Use sets the keys, and serves on the interface by which the coordinator was reached, as other workers can
// reach this interface too. On one machine this is the loopback interface, on a node the interface towards the
// coordinator.
//
// A coordinator that was restarted may be reached by another interface, as it runs on another machine or the
// first interface is gone. The node then serves on that interface too, and gives out its address from then on.
// It continues to serve on the others for nodes that have their addresses.
//
// A node with a tunnel serves only there.
func (n *Node) Use(keys *wire.Identity, local net.Addr) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.client != nil {
		n.client.CloseIdleConnections() // they have the old keys; connections in use continue
	}
	dial := func(ctx context.Context, _, addr string) (net.Conn, error) { return wire.Reach(ctx, addr) }
	if n.Tunnel != nil {
		dial = n.Tunnel.DialNode
	}
	n.keys, n.client = keys, newClient(keys, dial)
	if n.Tunnel != nil {
		if n.server == nil {
			n.serveOn(n.Tunnel.Nodes())
			n.addr = n.Tunnel.Nodes().Addr().String()
		}
		return nil
	}
	host, _, err := net.SplitHostPort(local.String())
	if err != nil {
		return fmt.Errorf("the own address %s: %w", local, err)
	}
	if n.served[host] == "" {
		if err := n.serve(host); err != nil {
			return err
		}
	}
	n.addr = n.served[host]
	return nil
}

// serve serves on one more interface. The caller holds the lock.
func (n *Node) serve(host string) error {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return job.IOError(job.Transient, host, "map outputs cannot be served", err)
	}
	n.served[host] = l.Addr().String()
	n.serveOn(l)
	return nil
}

// serveOn serves the connections of a listener. The caller holds the lock.
func (n *Node) serveOn(l net.Listener) {
	if n.server == nil {
		n.server = &http.Server{Handler: n.handler(), ReadHeaderTimeout: fetchHeader, IdleTimeout: 2 * time.Minute,
			ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug)}
	}
	secure := wire.Guard(l, n.serverTLS, func(a net.Addr, err error) {
		n.log.Debug("connection to the map outputs refused", "from", a, "err", err)
	})
	go func(server *http.Server) {
		if err := server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
			n.log.Error("the server of map outputs has ended", "at", l.Addr(), "err", err)
		}
	}(n.server)
}

// serverTLS returns the configuration with the newest keys.
func (n *Node) serverTLS() *tls.Config {
	n.mu.Lock()
	defer n.mu.Unlock()
	return wire.ShuffleTLS(n.keys)
}

// newClient returns a client for the map outputs of other nodes. dial connects to them.
func newClient(id *wire.Identity, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: dial, TLSClientConfig: wire.ShuffleTLS(id), TLSHandshakeTimeout: fetchDial,
		ResponseHeaderTimeout: fetchHeader, MaxIdleConnsPerHost: keepIdle, IdleConnTimeout: time.Minute,
		DisableCompression: true, // segments are compressed already
	}}
}

// Open opens a partition of a map output. If this machine can read the folder of the output, the segment is local.
func (n *Node) Open(ctx context.Context, loc Location, partition int) (Segment, error) {
	switch {
	case loc.Holder == n.id:
		return n.Store.Open(loc.Attempt, partition)
	case loc.Outputs != "":
		return openShared(loc, partition)
	default:
		return n.fetch(ctx, loc, partition)
	}
}

// openShared opens an output in another node's folder. It does not return ErrNotHeld, so that the caller tries
// again: the output was written before its location was reported, but a network file system may answer from
// its cache.
func openShared(loc Location, partition int) (Segment, error) {
	seg, err := (&Store{loc.Outputs}).Open(loc.Attempt, partition)
	if errors.Is(err, ErrNotHeld) {
		err = fmt.Errorf("no output of %v is in %s", loc.Attempt, loc.Outputs)
	}
	return seg, err
}

// lost logs that an output cannot be used, and removes the output if it is on this node.
func (n *Node) lost(loc Location, by job.Attempt, err error) {
	n.log.Warn("map output cannot be used", "map", loc.Attempt, "holder", loc.Holder, "by", by, "err", err)
	if loc.Holder != n.id {
		return
	}
	if err := n.Store.Remove(loc.Attempt); err != nil { // otherwise the next hello would offer it again
		n.log.Warn("a damaged map output cannot be removed", "map", loc.Attempt, "err", err)
	}
}

// fetch opens a segment of another node.
func (n *Node) fetch(ctx context.Context, loc Location, partition int) (Segment, error) {
	n.mu.Lock()
	client := n.client
	n.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	seg, err := fetch(ctx, client, loc, partition)
	if err != nil {
		cancel(nil)
		return seg, err
	}
	stalled := fmt.Errorf("%s sent nothing for %s", loc.Addr, job.FormatDuration(n.stall))
	timer := time.AfterFunc(n.stall, func() { cancel(stalled) })
	seg.Body = &watched{body: seg.Body, ctx: ctx, cancel: cancel, timer: timer, stall: n.stall}
	return seg, nil
}

// watched is the body of a segment. A read fails if the other node sends nothing for the time stall.
type watched struct {
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

// Read reads the body. Only the time during a read counts, not the time between reads.
func (r *watched) Read(p []byte) (int, error) {
	r.timer.Reset(r.stall)
	n, err := r.body.Read(p)
	r.timer.Stop()
	if err != nil && err != io.EOF && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return n, err
}

func (r *watched) Close() error {
	r.timer.Stop()
	r.cancel(nil)
	return r.body.Close()
}

// Address returns the address at which map outputs are served.
func (n *Node) Address() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addr
}

// Close stops the server and closes the connections.
func (n *Node) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server != nil {
		_ = n.server.Close() // its clients fetch from elsewhere
	}
	if n.client != nil {
		n.client.CloseIdleConnections()
	}
}
