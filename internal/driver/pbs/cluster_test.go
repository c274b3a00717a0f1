package pbs

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
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
	"berth/test/support/pbstest"
)

// TestMain makes the test program the worker that jobs start.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		os.Exit(beWorker(os.Args[3]))
	}
	if len(os.Args) == 2 && os.Args[1] == "snapshot" {
		os.Exit(printSnapshot())
	}
	code := m.Run()
	if err := pbstest.EndShared(); err != nil {
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

// printSnapshot prints what the snapshot of another user has.
func printSnapshot() int {
	snap, err := Open(os.Environ()).Snapshot(context.Background(), "")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Printf("%s: %d running; %d CPUs are free on the first node; %s\n", snap.Queue.User, len(snap.Queue.Running), snap.Nodes[0].Free.CPUs, snap.Queue.Hidden)
	return 0
}

func now() job.Time { return job.Time(time.Now().UnixNano()) }

// aCluster returns the cluster that all tests share that kill none of its parts. Its nodes have room for all tests at once.
func aCluster(t *testing.T) *pbstest.Cluster {
	t.Helper()
	return pbstest.Shared(t, pbstest.Nodes(3), pbstest.CPUs(16), pbstest.Memory("16gb"), pbstest.Extra("set node NODE1 resources_available.ngpus=2"))
}

// options returns the options of a driver for the cluster, with short intervals.
func options(t *testing.T, c *pbstest.Cluster, dir string) batch.Options {
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

// TestDriver runs the conformance suite of all drivers with real workers on a real PBS.
func TestDriver(t *testing.T) {
	t.Parallel()
	c := aCluster(t)
	drivertest.Run(t, drivertest.Backend{Name: Name, Node: share, WallTime: 3 * time.Second, Batch: true}, func(t *testing.T, s drivertest.Setup) driver.Driver {
		o := options(t, c, s.Dir)
		o.Issue, o.Report = s.Issue, s.Report
		return batch.New(o)
	})
}

// system is PBS as the tests of all batch systems see it.
var system = batchtest.System{Open: func(env []string) batch.System { return Open(env) }, Share: share}

// TestSystem runs the tests of all batch systems.
func TestSystem(t *testing.T) {
	t.Parallel()
	batchtest.Run(t, system, aCluster(t))
}
