package worker

import (
	"log/slog"
	"path/filepath"
	"testing"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// TestRatesAreTold: a hello says what the user told of the node's disk and network, in the worker's capacity.
func TestRatesAreTold(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.Rates = job.NodeRates{Disk: []job.NodeRate{{Nodes: "fast", Bytes: 9}, {Bytes: 5}}, Net: []job.NodeRate{{Bytes: 7}}}
	cfg.Constraint = "avx2&fast"
	p, end := c.worker(cfg)
	if got := p.hello.Capacity; got.Disk != 9 || got.Net != 7 || got.CPUs != cfg.Capacity.CPUs {
		t.Errorf("capacity %+v", got)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestDiskIsMeasuredOnce: what a worker measured of the disk of its folder is known to the workers after it, each of which has its
// share; what the user told goes before.
func TestDiskIsMeasuredOnce(t *testing.T) {
	dir := t.TempDir()
	cfg := &Config{WorkerConfig: wire.WorkerConfig{Nodes: filepath.Join(dir, "nodes"), Disk: "/scratch", Sharers: 2}, Log: slog.New(slog.DiscardHandler)}
	r := newRates(cfg)
	if got := r.capacity(""); got.Disk != 0 || got.Net != 0 {
		t.Errorf("before: %+v", got)
	}
	r.measure(dir)
	r = newRates(cfg)
	if r.kept <= 0 || r.capacity("").Disk != r.kept/2 {
		t.Errorf("kept %d, capacity %+v", r.kept, r.capacity(""))
	}
	other := *cfg
	other.Disk = "/elsewhere"
	if r := newRates(&other); r.kept != 0 {
		t.Errorf("another folder's disk is taken for that of %s: %d", cfg.Disk, r.kept)
	}
	cfg.Rates.Disk = []job.NodeRate{{Bytes: 3}}
	if got := newRates(cfg).capacity("127.0.0.1:80"); got.Disk != 3 || got.Net != 0 {
		t.Errorf("told: %+v", got)
	}
}
