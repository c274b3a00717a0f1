// Package batchtest tests drivers of batch systems with real clusters: what drivertest does not test, as it knows no queue. Run runs the
// tests that are the same for all of them, and a Bed is what the tests of one batch system need.
package batchtest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// patience is how long a test waits for an event.
const patience = 5 * time.Minute

// Idle is a worker that does nothing until it gets SIGTERM. Anything is the same for a program that also becomes a stand-in.
const (
	Idle     = "trap 'kill $!; exit 0' TERM\nsleep 600 & wait\n"
	Anything = "[ \"$1\" = worker ] || exec sleep 600\n" + Idle
)

// Cluster is a cluster of the batch system under test.
type Cluster interface {
	// Env returns the environment variables with which the batch system's commands use it.
	Env() []string
	// Cancel cancels a job by the batch system's command.
	Cancel(tb testing.TB, id string)
	// Alive reports whether a job waits or runs.
	Alive(tb testing.TB, id string) bool
}

// System describes the batch system under test.
type System struct {
	Open  batch.Backend
	Share job.Resources // what fits on a node many times
	Poll  time.Duration // between two polls; 0: 200 ms
}

// Bed is a driver without a coordinator. Its reports go to a channel, and its workers are scripts that the test writes.
type Bed struct {
	T       *testing.T
	System  System
	Opts    batch.Options
	D       *batch.Driver
	reports chan step.Input
}

// Now is the time of beds.
func Now() job.Time { return job.Time(time.Now().UnixNano()) }

// NewBed returns a bed on the cluster, whose workers run the given script.
func NewBed(t *testing.T, s System, c Cluster, worker string) *Bed {
	t.Helper()
	b := &Bed{T: t, System: s, reports: make(chan step.Input, 1000)}
	exe := filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\n"+worker), 0o700); err != nil {
		t.Fatal(err)
	}
	b.Opts = batch.Options{Setup: driver.Setup{Exe: exe, Env: append(os.Environ(), c.Env()...), Issue: func(job.NodeID, string) error { return nil }, Now: Now, Wall: Now,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Report: func(in step.Input) { b.reports <- in }}, System: s.Open,
		Dir: filepath.Join(t.TempDir(), "allocs"), Scratch: t.TempDir(), Poll: cmp.Or(s.Poll, 200*time.Millisecond), RetryFirst: 100 * time.Millisecond, RetryMax: time.Second}
	b.D = batch.New(b.Opts)
	t.Cleanup(func() { // after tearDown, also if that fails: the driver writes to the test's log
		if err := b.D.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(b.tearDown)
	return b
}

// tearDown releases all allocations and waits until their folders are removed.
func (b *Bed) tearDown() {
	folders, _ := os.ReadDir(b.Opts.Dir) // there is none before the first allocation
	for _, f := range folders {
		id := job.AllocID(f.Name())
		if err := errors.Join(b.D.Release(context.Background(), id), b.D.Clear(context.Background(), id)); err != nil {
			b.T.Error(err)
		}
	}
	b.Poll("the driver's folder is empty", func() bool {
		left, _ := os.ReadDir(b.Opts.Dir)
		return len(left) == 0
	})
}

// Poll waits until is returns true.
func (b *Bed) Poll(what string, is func() bool) {
	b.T.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.T.Fatalf("%s: this did not happen within %v", what, patience)
		}
	}
}

// Request asks for an allocation of nodes with the system's share each.
func (b *Bed) Request(id job.AllocID, nodes int, with job.Batch) job.AllocRequest {
	b.T.Helper()
	req := job.AllocRequest{On: b.System.Open.Name(), Nodes: nodes, PerNode: b.System.Share, Time: 10 * time.Minute, Elastic: true, Batch: with}
	if err := b.D.Request(b.T.Context(), id, req); err != nil {
		b.T.Fatal(err)
	}
	return req
}

// Succeed replaces the driver by a later one, as after the death of a coordinator.
func (b *Bed) Succeed() {
	b.T.Helper()
	if err := b.D.Close(); err != nil {
		b.T.Fatal(err)
	}
	b.D = batch.New(b.Opts)
}

// Report waits for a report of type T for which is returns true. The test fails if an allocation ends before.
func Report[T step.Input](b *Bed, is func(T) bool) T {
	b.T.Helper()
	late := time.After(patience)
	for {
		select {
		case in := <-b.reports:
			b.T.Logf("reported %T %+v", in, in)
			if want, ok := in.(T); ok && is(want) {
				return want
			}
			if down, ok := in.(step.AllocDown); ok {
				b.T.Fatalf("the allocation is over: %s", down.Reason)
			}
		case <-late:
			b.T.Fatalf("no such %T within %v", *new(T), patience)
		}
	}
}

// Up waits until an allocation has started.
func (b *Bed) Up(id job.AllocID) step.AllocUp {
	b.T.Helper()
	return Report(b, func(in step.AllocUp) bool { return in.Alloc == id })
}

// Noted waits for a note that contains a text.
func (b *Bed) Noted(id job.AllocID, says string) step.AllocNote {
	b.T.Helper()
	return Report(b, func(in step.AllocNote) bool { return in.Alloc == id && strings.Contains(in.Note, says) })
}

// Down waits for the end of an allocation. Its reason must contain a text.
func (b *Bed) Down(id job.AllocID, says string, refuse bool) step.AllocDown {
	b.T.Helper()
	down := Report(b, func(in step.AllocDown) bool { return in.Alloc == id })
	if !strings.Contains(down.Reason, says) || down.Refuse != refuse {
		b.T.Errorf("it says %q, refused %t; want %q, %t", down.Reason, down.Refuse, says, refuse)
	}
	return down
}

// Job returns the id of an allocation's batch job, once it has one.
func (b *Bed) Job(id job.AllocID) (of string) {
	b.T.Helper()
	b.Poll("a job for "+string(id), func() bool {
		text, _ := os.ReadFile(b.File(id, "job"))
		of = b.System.Open(nil).JobID(string(text))
		return of != ""
	})
	return of
}

// File returns the path of a file of an allocation.
func (b *Bed) File(id job.AllocID, name string) string {
	return filepath.Join(b.Opts.Dir, string(id), name)
}

// Release releases an allocation.
func (b *Bed) Release(id job.AllocID) {
	b.T.Helper()
	if err := b.D.Release(context.Background(), id); err != nil {
		b.T.Fatal(err)
	}
}

// Host returns the node's name that a rank's script has written.
func (b *Bed) Host(id job.AllocID, rank int) string { return batch.Host(b.File(id, ""), rank) }
