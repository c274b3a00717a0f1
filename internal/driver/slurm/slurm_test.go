package slurm

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/batch"
	"berth/internal/driver/script"
	"berth/internal/node/worker"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
	"berth/test/support/batchtest"
	"berth/test/support/drivertest"
	"berth/test/support/slurmtest"
)

// TestMain makes the test program the worker that jobs start.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		os.Exit(beWorker(os.Args[3]))
	}
	os.Exit(m.Run())
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

// options returns the options of a driver for the cluster, with short intervals.
func options(t *testing.T, c *slurmtest.Cluster, dir string) batch.Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return batch.Options{Setup: driver.Setup{Exe: exe, Env: append(os.Environ(), c.Env()...), Issue: func(job.NodeID, string) error { return nil }, Now: now, Wall: now, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, System: func(env []string) batch.System { return Open(env) }, Dir: dir, Scratch: t.TempDir(), Poll: 200 * time.Millisecond, RetryFirst: 100 * time.Millisecond, RetryMax: time.Second}
}

// share is such a part of a test cluster's node that two of them fit on it.
var share = job.Resources{CPUs: 1, Mem: 500 << 20}

// system is Slurm as the tests of all batch systems see it.
var system = batchtest.System{Open: func(env []string) batch.System { return Open(env) }, Share: share}

// TestDriver runs the conformance suite, by the driver of Slurm and by scripts alone. Slurm's least wall time is a minute, and it checks
// every half minute for jobs that have reached it.
func TestDriver(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t)
	place := drivertest.Backend{Name: Name, Node: share, WallTime: time.Minute, Patience: 5 * time.Minute, Batch: true}
	run := func(place drivertest.Backend, system batchtest.System) {
		t.Run(place.Name, func(t *testing.T) {
			t.Parallel()
			drivertest.Run(t, place, func(t *testing.T, s drivertest.Setup) driver.Driver {
				opts := options(t, c, s.Dir)
				opts.Issue, opts.Report, opts.System, opts.Poll = s.Issue, s.Report, system.Open, cmp.Or(system.Poll, opts.Poll)
				return batch.New(opts)
			})
		})
	}
	run(place, system)
	place.Name = script.Name
	run(place, scripts(t))
}

// scripts is Slurm as the scripts of the examples reach it.
func scripts(t *testing.T) batchtest.System {
	t.Helper()
	dir, err := filepath.Abs("../../../examples/scripts/slurm")
	if err != nil {
		t.Fatal(err)
	}
	fast := "PATH=/usr/bin:" + os.Getenv("PATH") // pyenv's python3 is a slow script
	return batchtest.System{Open: func(env []string) batch.System {
		return script.Open(append(slices.Clip(env), script.DirVar+"="+dir, fast))
	}, Share: share, Poll: time.Second}
}
