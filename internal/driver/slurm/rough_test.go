package slurm

import (
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver/batch"
	"berth/test/support/batchtest"
	"berth/test/support/slurmtest"
)

// TestFailures kills parts of Slurm, one after the other.
func TestFailures(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(3))
	b := batchtest.NewBed(t, system, c, batchtest.Idle)

	// The controller dies while one job runs and another one is requested.
	b.Request("a1", 1, job.Batch{Args: []string{"--nodelist=n1"}})
	b.Up("a1")
	first := b.Job("a1")
	c.WaitSaved(t, first)
	if err := Open(b.Opts.Env).Available(t.Context()); err != nil {
		t.Errorf("with a controller: %v", err)
	}
	c.Stop(t, slurmtest.Ctld)
	if err := Open(b.Opts.Env).Available(t.Context()); job.ClassOf(err) != job.Transient {
		t.Errorf("without a controller: %v", err)
	}
	b.Noted("a1", "has not answered since")
	b.Request("a2", 2, job.Batch{Args: []string{"--nodelist=n[2-3]"}})
	b.Noted("a2", "next try at")
	b.Release("a1") // Slurm cannot be reached now
	c.Start(t, slurmtest.Ctld)
	b.Up("a2")
	c.WaitState(t, first, "CANCELLED", "COMPLETED")

	b.Poll("both loops run", func() bool { return b.Host("a2", 0) == "n2" && b.Host("a2", 1) == "n3" })

	// A node dies, and the job continues without it. Then the node with the job's script dies.
	c.Crash(t, "n3")
	lost := batchtest.Report(b, func(step.NodeDown) bool { return true })
	if lost.Node != "a2/1" || !lost.Gone || !strings.Contains(lost.Reason, "n3") {
		t.Errorf("reported %+v", lost)
	}
	c.Crash(t, "n2")
	b.Down("a2", "the node that ran its script failed: n2", false)
}

// TestForgotten checks that a job that the controller has lost counts as ended.
func TestForgotten(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(1), slurmtest.Extra("MinJobAge=2"))
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	id := b.Job("a1")
	if err := b.D.Close(); err != nil {
		t.Fatal(err)
	}
	c.Run(t, "scancel", id)
	c.Poll(t, func() (bool, string) {
		_, err := c.State(id)
		return err != nil, "job " + id + " is known as yet"
	})
	b.D = batch.New(b.Opts)
	if err := b.D.Adopt(t.Context(), "a1", job.AllocRequest{On: Name, Nodes: 1, PerNode: share}); err != nil {
		t.Fatal(err)
	}
	b.Down("a1", "cancelled", false)
}
