package gridengine

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/batch"
	"berth/internal/node/worker"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
	"berth/test/support/batchtest"
	"berth/test/support/drivertest"
	"berth/test/support/gridenginetest"
)

// TestMain makes the test program the worker that jobs start.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		os.Exit(beWorker(os.Args[3]))
	}
	code := m.Run()
	if err := gridenginetest.EndShared(); err != nil {
		slog.Error("the cluster of all tests", "err", err)
		code = 1
	}
	os.Exit(code)
}

func beWorker(config string) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	var c wire.WorkerConfig
	err := statedir.ReadJSON(config, &c)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		err = worker.Run(ctx, worker.Config{WorkerConfig: c, MaxOrphan: time.Minute, Log: log})
	}
	if err != nil {
		log.Error("worker failed", "err", err)
		return 1
	}
	return 0
}

func now() job.Time { return job.Time(time.Now().UnixNano()) }

// aCluster returns the cluster that all tests share that kill none of its parts. Its nodes have room for all tests at once.
func aCluster(t *testing.T) *gridenginetest.Cluster {
	t.Helper()
	return gridenginetest.Shared(t, gridenginetest.Nodes(3), gridenginetest.Slots(16), gridenginetest.Memory("100G"), gridenginetest.DefaultMemory("0"))
}

// options returns the options of a driver for the cluster, with short intervals.
func options(t *testing.T, c *gridenginetest.Cluster, dir string) batch.Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return batch.Options{Setup: driver.Setup{Exe: exe, Env: append(os.Environ(), c.Env()...), Issue: func(job.NodeID, string) error { return nil }, Now: now, Wall: now, Log: slog.New(slog.NewTextHandler(t.Output(), nil))},
		System: func(env []string) batch.System { return Open(env) }, Dir: dir, Scratch: t.TempDir(), Poll: 200 * time.Millisecond, RetryFirst: 100 * time.Millisecond, RetryMax: time.Second}
}

// share is such a part of a test cluster's node that two of them fit on it.
var share = job.Resources{CPUs: 1, Mem: 500 << 20}

// TestDriver runs the conformance suite of all drivers with real workers on a real Grid Engine.
func TestDriver(t *testing.T) {
	t.Parallel()
	c := aCluster(t)
	drivertest.Run(t, drivertest.Backend{Name: Name, Node: share, WallTime: 3 * time.Second, Batch: true, Listen: c.Address()}, func(t *testing.T, s drivertest.Setup) driver.Driver {
		o := options(t, c, s.Dir)
		o.Issue, o.Report = s.Issue, s.Report
		return batch.New(o)
	})
}

// bed is the cluster as the tests of all batch systems use it.
type bed struct{ *gridenginetest.Cluster }

func (b bed) Cancel(tb testing.TB, id string) { tb.Helper(); b.Run(tb, "qdel", id) }

// Alive reports whether a job waits or runs: one that is being deleted does not count.
func (b bed) Alive(tb testing.TB, id string) bool {
	tb.Helper()
	state, err := b.State(id)
	if err != nil {
		tb.Fatal(err)
	}
	return state != "" && !strings.Contains(state, "d")
}

var system = batchtest.System{Open: func(env []string) batch.System { return Open(env) }, Share: share}

// TestBatch runs the tests of all batch systems.
func TestBatch(t *testing.T) {
	t.Parallel()
	batchtest.Run(t, system, bed{aCluster(t)})
}
