package worker

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
	"berth/internal/mapreduce"
	"berth/internal/wire"
)

const (
	fetchDial    = 10 * time.Second
	fetchHeader  = 30 * time.Second
	fetchStall   = 60 * time.Second
	keepFetchers = 4 // idle connections kept for each holder
)

// shuffle serves the map outputs that this node holds and fetches those of others.
type shuffle struct {
	log     *slog.Logger
	outputs *mapreduce.Outputs
	stall   time.Duration // a holder that sends nothing for so long is taken for dead

	mu     sync.Mutex
	addr   string            // host:port that is told; empty before the first dial
	served map[string]string // by host: where it is served
	server *http.Server
	id     *wire.Identity
	client *http.Client
}

func newShuffle(s *scratch, cfg Config) (*shuffle, error) {
	outputs, err := mapreduce.OpenOutputs(s.outputs())
	if err != nil {
		return nil, err
	}
	return &shuffle{log: cfg.Log, outputs: outputs, stall: fetchStall, served: make(map[string]string)}, nil
}

// use takes the keys that were just read, and serves on the interface over which the
// coordinator was reached: what reaches it reaches other workers. On one machine that is
// the loopback interface, on a node the one towards the coordinator.
//
// A coordinator that comes back may be reached over another interface, since it runs on
// another machine or because the first one is gone. That is served then, too, and told
// from then on; the others stay for those who were told of them.
func (s *shuffle) use(id *wire.Identity, local net.Addr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		s.client.CloseIdleConnections() // made with the old keys; those in use live on
	}
	s.id, s.client = id, fetcher(id)
	host, _, err := net.SplitHostPort(local.String())
	if err != nil {
		return fmt.Errorf("own address %s: %w", local, err)
	}
	if s.served[host] == "" {
		if err := s.serve(host); err != nil {
			return err
		}
	}
	s.addr = s.served[host]
	return nil
}

// serve serves on one more interface. The lock is held.
func (s *shuffle) serve(host string) error {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return &job.Error{Class: job.Transient, Code: job.CodeIO, Where: host, What: "cannot serve map outputs", Err: err}
	}
	s.served[host] = l.Addr().String()
	if s.server == nil {
		s.server = &http.Server{Handler: s.outputs.Handler(), ReadHeaderTimeout: fetchHeader, IdleTimeout: 2 * time.Minute,
			ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	}
	secure := wire.Guard(l, &tls.Config{GetConfigForClient: s.serverTLS}, func(a net.Addr, err error) {
		s.log.Debug("connection to the map outputs refused", "from", a, "err", err)
	})
	go func(server *http.Server) {
		if err := server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("map outputs are not served any more", "at", l.Addr(), "err", err)
		}
	}(s.server)
	return nil
}

// serverTLS returns the configuration with the newest keys.
func (s *shuffle) serverTLS(*tls.ClientHelloInfo) (*tls.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.ShuffleServerTLS(s.id), nil
}

// fetcher returns a client for the map outputs of other workers.
func fetcher(id *wire.Identity) *http.Client {
	dialer := net.Dialer{Timeout: fetchDial}
	return &http.Client{Transport: &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: wire.ShuffleClientTLS(id), TLSHandshakeTimeout: fetchDial,
		ResponseHeaderTimeout: fetchHeader, MaxIdleConnsPerHost: keepFetchers, IdleConnTimeout: time.Minute,
		DisableCompression: true, // segments are compressed
	}}
}

// fetch opens a segment that another node holds.
func (s *shuffle) fetch(ctx context.Context, loc mapreduce.Location, partition int) (mapreduce.Segment, error) {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	seg, err := mapreduce.Fetch(ctx, client, loc, partition)
	if err != nil {
		cancel(nil)
		return seg, err
	}
	stalled := fmt.Errorf("%s sent nothing for %s", loc.Addr, job.FormatDuration(s.stall))
	timer := time.AfterFunc(s.stall, func() { cancel(stalled) })
	seg.Body = &watched{body: seg.Body, ctx: ctx, cancel: cancel, timer: timer, stall: s.stall}
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

// held returns the map outputs that are on this node.
func (s *shuffle) held() []job.Attempt { return s.outputs.Held() }

// address returns where map outputs are served.
func (s *shuffle) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// forget drops a job's map outputs.
func (s *shuffle) forget(id job.ID) {
	if err := s.outputs.Drop(id); err != nil {
		s.log.Warn("map outputs stay", "job", id, "err", err)
	}
}

func (s *shuffle) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		_ = s.server.Close() // its clients ask elsewhere
	}
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
}
