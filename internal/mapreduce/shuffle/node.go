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

	"berth/internal/job"
	"berth/internal/wire"
)

const (
	fetchDial   = 10 * time.Second
	fetchHeader = 30 * time.Second
	fetchStall  = 60 * time.Second
	keepIdle    = 4 // connections kept for each holder
)

// Tunnel leads from node to node where the network does not. Addresses of nodes are the tunnel's.
type Tunnel interface {
	// Nodes returns where the connections of other nodes to this one come in. Its address is the node's own.
	Nodes() net.Listener
	// DialNode connects to the node of an address.
	DialNode(ctx context.Context, network, addr string) (net.Conn, error)
}

// Node is a node's part in the shuffle: it serves the map outputs of its store and fetches those
// of other nodes.
type Node struct {
	Store  *Store
	Tunnel Tunnel // to other nodes; nil: the network leads there
	id     job.NodeID
	log    *slog.Logger
	stall  time.Duration // a holder that sends nothing for so long is taken for dead

	mu     sync.Mutex
	addr   string            // host:port that is told; empty before the first dial
	served map[string]string // by host: where it is served
	server *http.Server
	keys   *wire.Identity
	client *http.Client
}

// NewNode opens the store of a node in the folder dir. It serves nothing before Use.
func NewNode(id job.NodeID, dir string, log *slog.Logger) (*Node, error) {
	store, err := OpenStore(dir)
	if err != nil {
		return nil, err
	}
	return &Node{Store: store, id: id, log: log, stall: fetchStall, served: make(map[string]string)}, nil
}

// Use takes the keys that were just read, and serves on the interface over which the
// coordinator was reached: what reaches it reaches other workers. On one machine that is
// the loopback interface, on a node the one towards the coordinator.
//
// A coordinator that comes back may be reached over another interface, since it runs on
// another machine or because the first one is gone. That is served then, too, and told
// from then on; the others stay for those who were told of them.
//
// A node with a tunnel serves there alone, whatever the connection to the coordinator was.
func (n *Node) Use(keys *wire.Identity, local net.Addr) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.client != nil {
		n.client.CloseIdleConnections() // made with the old keys; those in use live on
	}
	n.keys = keys
	if n.Tunnel != nil {
		n.client = newClient(keys, n.Tunnel.DialNode)
		if n.server == nil {
			n.serveOn(n.Tunnel.Nodes())
			n.addr = n.Tunnel.Nodes().Addr().String()
		}
		return nil
	}
	n.client = newClient(keys, (&net.Dialer{Timeout: fetchDial}).DialContext)
	host, _, err := net.SplitHostPort(local.String())
	if err != nil {
		return fmt.Errorf("own address %s: %w", local, err)
	}
	if n.served[host] == "" {
		if err := n.serve(host); err != nil {
			return err
		}
	}
	n.addr = n.served[host]
	return nil
}

// serve serves on one more interface. The lock is held.
func (n *Node) serve(host string) error {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return &job.Error{Class: job.Transient, Code: job.CodeIO, Where: host, What: "cannot serve map outputs", Err: err}
	}
	n.served[host] = l.Addr().String()
	n.serveOn(l)
	return nil
}

// serveOn serves the connections that a listener takes in. The lock is held.
func (n *Node) serveOn(l net.Listener) {
	if n.server == nil {
		n.server = &http.Server{Handler: n.Store.Handler(), ReadHeaderTimeout: fetchHeader, IdleTimeout: 2 * time.Minute,
			ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug)}
	}
	secure := wire.Guard(l, &tls.Config{GetConfigForClient: n.serverTLS}, func(a net.Addr, err error) {
		n.log.Debug("connection to the map outputs refused", "from", a, "err", err)
	})
	go func(server *http.Server) {
		if err := server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
			n.log.Error("map outputs are not served any more", "at", l.Addr(), "err", err)
		}
	}(n.server)
}

// serverTLS returns the configuration with the newest keys.
func (n *Node) serverTLS(*tls.ClientHelloInfo) (*tls.Config, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return wire.ShuffleServerTLS(n.keys), nil
}

// newClient returns a client for the map outputs of other nodes, to which dial connects.
func newClient(id *wire.Identity, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: dial, TLSClientConfig: wire.ShuffleClientTLS(id), TLSHandshakeTimeout: fetchDial,
		ResponseHeaderTimeout: fetchHeader, MaxIdleConnsPerHost: keepIdle, IdleConnTimeout: time.Minute,
		DisableCompression: true, // segments are compressed
	}}
}

// Open opens a partition of a map output, in place where this node can read the folder
// that it is in.
func (n *Node) Open(ctx context.Context, loc Location, partition int) (Segment, error) {
	switch {
	case loc.Holder == n.id:
		return n.Store.Open(loc.Map, partition)
	case loc.Outputs != "":
		return openShared(loc, partition)
	default:
		return n.fetch(ctx, loc, partition)
	}
}

// openShared opens an output in another node's folder. One that is not there is looked for
// again by who asked: it was written before it was told of, but a network file system may
// answer from its cache.
func openShared(loc Location, partition int) (Segment, error) {
	seg, err := StoreIn(loc.Outputs).Open(loc.Map, partition)
	if errors.Is(err, ErrNotHeld) {
		err = fmt.Errorf("no output of %v in %s", loc.Map, loc.Outputs)
	}
	return seg, err
}

// lost notes that an output cannot be used, and removes it if this node holds it.
func (n *Node) lost(loc Location, by job.Attempt, err error) {
	n.log.Warn("map output cannot be used", "map", loc.Map, "holder", loc.Holder, "by", by, "err", err)
	if loc.Holder != n.id {
		return
	}
	if err := n.Store.Remove(loc.Map); err != nil { // else the next hello would offer it again
		n.log.Warn("damaged map output stays", "map", loc.Map, "err", err)
	}
}

// fetch opens a segment that another node holds.
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

// watched is a segment's body that fails when its holder sends nothing.
type watched struct {
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

// Read reads on. Only the holder's time is counted, not that of the reader.
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

// Address returns where map outputs are served.
func (n *Node) Address() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addr
}

// Close ends serving and fetching.
func (n *Node) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server != nil {
		_ = n.server.Close() // its clients ask elsewhere
	}
	if n.client != nil {
		n.client.CloseIdleConnections()
	}
}
