package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver/batch"
	"berth/test/support/slurmtest"
)

// patience is how long a test waits for an event.
const patience = 5 * time.Minute

// bed is a driver without a coordinator. Its reports go to a channel, and its workers are
// scripts that the test writes.
type bed struct {
	t       *testing.T
	c       *slurmtest.Cluster
	opts    batch.Options
	d       *batch.Driver
	reports chan step.Input
}

// idle is a worker that does nothing until it gets SIGTERM.
const idle = "trap 'kill $!; exit 0' TERM\nsleep 600 & wait\n"

// newBed returns a bed on the cluster, whose workers run the given script.
func newBed(t *testing.T, c *slurmtest.Cluster, worker string) *bed {
	t.Helper()
	b := &bed{t: t, c: c, reports: make(chan step.Input, 1000)}
	b.opts = options(t, c, filepath.Join(t.TempDir(), "allocs"))
	b.opts.Exe = filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(b.opts.Exe, []byte("#!/bin/sh\n"+worker), 0o700); err != nil {
		t.Fatal(err)
	}
	b.opts.Report = func(in step.Input) { b.reports <- in }
	b.d = batch.New(b.opts)
	t.Cleanup(b.tearDown)
	return b
}

// tearDown releases all allocations and waits until their folders are removed.
func (b *bed) tearDown() {
	folders, _ := os.ReadDir(b.opts.Dir) // there is none before the first allocation
	for _, f := range folders {
		id := job.AllocID(f.Name())
		if err := errors.Join(b.d.Release(context.Background(), id), b.d.Clear(context.Background(), id)); err != nil {
			b.t.Error(err)
		}
	}
	b.poll("the driver's folder is empty", func() bool {
		left, _ := os.ReadDir(b.opts.Dir)
		return len(left) == 0
	})
	if err := b.d.Close(); err != nil {
		b.t.Error(err)
	}
}

// poll waits until is returns true.
func (b *bed) poll(what string, is func() bool) {
	b.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("%s: this did not happen within %v", what, patience)
		}
	}
}

// request asks for an allocation of idle nodes.
func (b *bed) request(id job.AllocID, nodes int, batch job.Batch) job.AllocRequest {
	b.t.Helper()
	req := job.AllocRequest{On: Name, Nodes: nodes, PerNode: share, Time: 10 * time.Minute, Elastic: true, Batch: batch}
	if err := b.d.Request(b.t.Context(), id, req); err != nil {
		b.t.Fatal(err)
	}
	return req
}

// succeed replaces the driver by a later one, as after the death of a coordinator.
func (b *bed) succeed() {
	b.t.Helper()
	if err := b.d.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.d = batch.New(b.opts)
}

// report waits for a report of type T for which is returns true. The test fails if an allocation ends
// before.
func report[T step.Input](b *bed, is func(T) bool) T {
	b.t.Helper()
	late := time.After(patience)
	for {
		select {
		case in := <-b.reports:
			b.t.Logf("reported %T %+v", in, in)
			if want, ok := in.(T); ok && is(want) {
				return want
			}
			if down, ok := in.(step.AllocDown); ok {
				b.t.Fatalf("the allocation is over: %s", down.Reason)
			}
		case <-late:
			b.t.Fatalf("no such %T within %v", *new(T), patience)
		}
	}
}

// up waits until an allocation has started.
func (b *bed) up(id job.AllocID) step.AllocUp {
	b.t.Helper()
	return report(b, func(in step.AllocUp) bool { return in.Alloc == id })
}

// noted waits for a note that contains a text.
func (b *bed) noted(id job.AllocID, says string) step.AllocNote {
	b.t.Helper()
	return report(b, func(in step.AllocNote) bool { return in.Alloc == id && strings.Contains(in.Note, says) })
}

// down waits for the end of an allocation. Its reason must contain a text.
func (b *bed) down(id job.AllocID, says string, refuse bool) {
	b.t.Helper()
	down := report(b, func(in step.AllocDown) bool { return in.Alloc == id })
	if !strings.Contains(down.Reason, says) || down.Refuse != refuse {
		b.t.Errorf("it says %q, refused %t; want %q, %t", down.Reason, down.Refuse, says, refuse)
	}
}

// job returns the id of an allocation's Slurm job, once it has one.
func (b *bed) job(id job.AllocID) (slurm string) {
	b.t.Helper()
	b.poll("a job for "+string(id), func() bool {
		text, _ := os.ReadFile(b.file(id, "job"))
		slurm = Open(nil).JobID(string(text))
		return slurm != ""
	})
	return slurm
}

// file returns the path of a file of an allocation.
func (b *bed) file(id job.AllocID, name string) string {
	return filepath.Join(b.opts.Dir, string(id), name)
}

func (b *bed) release(id job.AllocID) {
	b.t.Helper()
	if err := b.d.Release(context.Background(), id); err != nil {
		b.t.Fatal(err)
	}
}

// host returns the node's name that a rank's script has written.
func (b *bed) host(id job.AllocID, rank int) string {
	return batch.Host(b.file(id, ""), rank)
}
