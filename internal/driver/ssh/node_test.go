package ssh

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/yamux"

	"berth/internal/core/job"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/wire"
)

// joined connects a worker's end of a tunnel to a holder's end. The holder's keys are in dir.
func joined(t *testing.T, allocs string, node job.NodeID) *Tunnel {
	t.Helper()
	a, b := net.Pipe()
	held, err := yamux.Client(a, tunnelConfig())
	if err != nil {
		t.Fatal(err)
	}
	worker, err := yamux.Server(b, tunnelConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = held.Close(), worker.Close() })
	alloc, rank, _ := strings.Cut(string(node), "/")
	if err := os.MkdirAll(filepath.Join(allocs, alloc), 0o700); err != nil {
		t.Fatal(err)
	}
	h := &holder{config: wire.WorkerConfig{Node: node, Bundle: filepath.Join(allocs, alloc, rank+".pem")}, log: slog.New(slog.DiscardHandler)}
	if err := h.meet(held); err != nil {
		t.Fatal(err)
	}
	go h.attend(held)
	tunnel := &Tunnel{session: worker, nodes: newArrivals(node)}
	go tunnel.attend(func() {})
	return tunnel
}

// TestNodesMeet checks that a worker reaches other ones through both their holders: of its own allocation, of another one, and one whose socket an
// earlier process has left. TLS uses the workers' keys. The path of the folder is longer than the address of a Unix socket may be.
func TestNodesMeet(t *testing.T) {
	allocs := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	ca, err := wire.GenerateCA(filepath.Join(t.TempDir(), "ca"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := wire.GenerateCA(filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(allocs, "a2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(allocs, "a2", "7.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nodes := map[job.NodeID]*shuffle.Node{}
	for id, by := range map[job.NodeID]interface {
		IssueWorker(job.NodeID) (*wire.Identity, error)
	}{"a1/0": ca, "a2/7": ca, "a3/1": other} {
		n, err := shuffle.NewNode(id, t.TempDir(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		n.Tunnel = joined(t, allocs, id)
		keys, err := by.IssueWorker(id)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // with each connection to the coordinator
			if err := n.Use(keys, nil); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(n.Close)
		nodes[id] = n
	}
	fetch := func(from, to job.NodeID) error {
		_, err := nodes[from].Open(t.Context(), shuffle.Location{Attempt: job.Attempt{Job: "mr-1", N: 1}, Holder: to, Addr: nodes[to].Address()}, 0)
		return err
	}
	for _, pair := range [][2]job.NodeID{{"a1/0", "a2/7"}, {"a2/7", "a1/0"}} {
		if err := fetch(pair[0], pair[1]); !errors.Is(err, shuffle.ErrNotHeld) { // it answers and has no such output
			t.Errorf("%s asks %s: %v", pair[0], pair[1], err)
		}
	}
	if err := fetch("a3/1", "a1/0"); err == nil || errors.Is(err, shuffle.ErrNotHeld) {
		t.Errorf("with keys of another coordinator: %v", err)
	}
}
