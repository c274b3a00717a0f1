package worker

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/event"
	"berth/internal/mapreduce"
	"berth/internal/wire"
)

// A holder that stops sending in the middle of a segment is given up.
func TestFetchFromAStalledHolder(t *testing.T) {
	over := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "half ")
		_ = http.NewResponseController(w).Flush()
		<-over
	}))
	defer server.Close()
	defer close(over)
	s := &shuffle{client: server.Client(), stall: 50 * time.Millisecond}
	loc := mapreduce.Location{Map: try("mr-1", 0, 1), Holder: "a1/1", Addr: server.Listener.Addr().String()}
	seg, err := s.fetch(t.Context(), loc, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(seg.Body)
	if string(got) != "half " || err == nil || !strings.Contains(err.Error(), "sent nothing") {
		t.Errorf("got %q, %v", got, err)
	}
	if err := seg.Body.Close(); err != nil {
		t.Error(err)
	}
}

// Map outputs are served where the coordinator was reached from last, and wherever that
// was before: on one machine the loopback interface, on a node the one towards it.
func TestServesTowardsTheCoordinator(t *testing.T) {
	c := newCoord(t)
	cfg, err := c.config("a1/0").normalize()
	if err != nil {
		t.Fatal(err)
	}
	sc, err := openScratch(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer sc.close()
	s, err := newShuffle(sc, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	b, err := wire.LoadBundle(cfg.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[string]string)
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.1"} { // all of 127/8 is this machine (RFC 1122)
		if err := s.use(b.Identity, &net.TCPAddr{IP: net.ParseIP(host), Port: 4711}); err != nil {
			t.Fatal(err)
		}
		got, _, err := net.SplitHostPort(s.address())
		if err != nil || got != host {
			t.Errorf("reached from %s, served at %s (%v)", host, s.address(), err)
		}
		if at[host] == "" {
			at[host] = s.address()
		} else if at[host] != s.address() {
			t.Errorf("served at %s, before at %s", s.address(), at[host])
		}
	}
	for host, addr := range at {
		loc := mapreduce.Location{Map: try("mr-1", 0, 1), Addr: addr}
		if _, err := s.fetch(t.Context(), loc, 0); !errors.Is(err, mapreduce.ErrNotHeld) {
			t.Errorf("asked at %s: %v", host, err)
		}
	}
}

// Connections that say nothing do not use up the worker's descriptors: its tasks run, its map
// outputs are served.
func TestSilentConnectionsToTheShuffle(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, cmd := c.process(cfg)
	few := unix.Rlimit{Cur: 400, Max: 400}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 * few.Max {
		silent, err := net.Dial("tcp", p.hello.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = silent.Close() }()
	}
	b, err := wire.LoadBundle(cfg.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	peer := shuffle{client: fetcher(b.Identity), stall: patience}
	if _, err := peer.fetch(t.Context(), mapreduce.Location{Map: try("mr-1", 0, 1), Addr: p.hello.Addr}, 0); !errors.Is(err, mapreduce.ErrNotHeld) {
		t.Errorf("asked beside the silent ones: %v", err) // it was accepted after all of them
	}
	s := bag(t, "true")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	p.ended(event.Done)
}

// A worker without a free descriptor blames neither task nor machine, and tries again.
func TestNoFreeDescriptor(t *testing.T) {
	c := newCoord(t)
	p, cmd := c.process(c.config("a1/0"))
	s := bag(t, "true")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	p.ended(event.Done) // now the worker has what it needs for itself
	var old unix.Rlimit
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) {
		t.Helper()
		if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: old.Max}, nil); err != nil {
			t.Fatal(err)
		}
	}
	limit(3)
	p.say(start(try(s.ID, 1, 1)))
	if m := p.ended(event.Lost); !strings.Contains(m.Reason, "ulimit -n") {
		t.Errorf("reason is %q", m.Reason)
	}
	p.say(start(try(s.ID, 1, 100)))
	p.ended(event.Failed) // it may be the task that needs too many
	limit(old.Cur)
	p.say(start(try(s.ID, 1, 101)))
	p.ended(event.Done)
}
