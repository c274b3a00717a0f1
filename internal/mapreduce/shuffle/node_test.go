package shuffle

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// A fetch fails if the other node stops sending in the middle of a segment.
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
	s := &Node{client: server.Client(), stall: 50 * time.Millisecond}
	loc := Location{Attempt: job.Attempt{Job: "mr-1", N: 1}, Holder: "a1/1", Addr: server.Listener.Addr().String()}
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

// The reduces of a node fetch from another one over connections that they keep: each has as many as it fetches at once, however many segments there are.
func TestConnectionsAreReused(t *testing.T) {
	const reduces, rounds = 4, 20
	var opened atomic.Int32
	all := make(chan struct{}) // holds every fetch of a round until all have come
	come := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		come <- struct{}{}
		<-all
		_, _ = io.WriteString(w, "segment")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	client := newClient(identity(t), (&net.Dialer{}).DialContext)
	client.Transport.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	s := &Node{client: client, stall: fetchStall}
	loc := Location{Attempt: job.Attempt{Job: "mr-1", N: 1}, Holder: "a1/1", Addr: server.Listener.Addr().String()}
	for range rounds {
		var fetches sync.WaitGroup
		for range reduces * copiers {
			fetches.Go(func() {
				seg, err := s.fetch(t.Context(), loc, 0)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := io.ReadAll(seg.Body); err != nil || string(got) != "segment" {
					t.Errorf("got %q, %v", got, err)
				}
				_ = seg.Body.Close() // only read
			})
		}
		for range reduces * copiers {
			<-come
		}
		for range reduces * copiers {
			all <- struct{}{}
		}
		fetches.Wait()
	}
	if n := opened.Load(); n > reduces*copiers {
		t.Errorf("%d connections were opened for %d at a time", n, reduces*copiers)
	}
}

func identity(t *testing.T) *wire.Identity {
	t.Helper()
	ca, err := wire.GenerateCA(filepath.Join(t.TempDir(), "ca"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := ca.IssueWorker("a1/0")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Map outputs are served on the interface by which the coordinator was reached last, and still on those before:
// on one machine the loopback interface, on a node the interface towards the coordinator.
func TestServesTowardsTheCoordinator(t *testing.T) {
	id := identity(t)
	s, err := NewNode("a1/0", t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := make(map[string]string)
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.1"} { // all addresses of 127/8 are this machine (RFC 1122)
		if err := s.Use(id, &net.TCPAddr{IP: net.ParseIP(host), Port: 4711}); err != nil {
			t.Fatal(err)
		}
		got, _, err := net.SplitHostPort(s.Address())
		if err != nil || got != host {
			t.Errorf("reached from %s, served at %s (%v)", host, s.Address(), err)
		}
		if at[host] == "" {
			at[host] = s.Address()
		} else if at[host] != s.Address() {
			t.Errorf("served at %s, before at %s", s.Address(), at[host])
		}
	}
	for host, addr := range at {
		loc := Location{Attempt: job.Attempt{Job: "mr-1", N: 1}, Addr: addr}
		if _, err := s.fetch(t.Context(), loc, 0); !errors.Is(err, ErrNotHeld) {
			t.Errorf("asked at %s: %v", host, err)
		}
	}
}
