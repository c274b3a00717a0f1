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
