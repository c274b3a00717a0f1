package batch

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/wire"
)

// TestClustersKeepAwake checks that each cluster with an unfinished job gets its own wake-up job, and
// that a cluster whose commands are missing reports it.
func TestClustersKeepAwake(t *testing.T) {
	dir := t.TempDir()
	c := New(Options{Setup: driver.Setup{Now: now, Wall: now, Log: slog.New(slog.DiscardHandler), Wake: true, StandIn: &wire.StandIn{Log: filepath.Join(dir, "log")}}, System: func([]string) System { return nobody{} }, Dir: filepath.Join(dir, "slurm"), Poll: time.Millisecond, RetryFirst: time.Millisecond, RetryMax: time.Minute})
	reqs := []job.AllocRequest{{Nodes: 1, Batch: job.Batch{Cluster: "x"}}, {Nodes: 2, Batch: job.Batch{Cluster: "y"}}, {Nodes: 3, Batch: job.Batch{Cluster: "x"}}}
	c.KeepAwake(reqs)
	for _, req := range reqs {
		for end := time.Now().Add(patience); !strings.Contains(c.GuardNote(req), "not on PATH"); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("cluster %s says %q", req.Batch.Cluster, c.GuardNote(req))
			}
		}
	}
	d := c.of("x")
	d.mu.Lock()
	if d.guard.need.Nodes != 3 {
		t.Errorf("the wake-up job of x is for %+v", d.guard.need)
	}
	d.mu.Unlock()
	c.KeepAwake(reqs[1:2])
	for id, want := range map[string]bool{"x": false, "y": true} {
		d := c.of(id)
		d.mu.Lock()
		if got := d.guard.need != nil; got != want {
			t.Errorf("cluster %s: needed %t", id, got)
		}
		d.mu.Unlock()
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
