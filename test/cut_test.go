package test

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/event"
)

// These tests run jobs in allocations with a wall time of one minute. They wait most of the time.

// TestSlurmCutBag runs a bag on one node for one minute at a time. It is interrupted at least three times,
// continues each time, and completes no task twice.
func TestSlurmCutBag(t *testing.T) {
	t.Parallel()
	w, _ := newSlurmWorld(t)
	w.cut("bag", "--array", "1-22", "-c", "2", "--stdout", "out/{task}", "--stderr", "none", "--", "sh", "-c", "sleep 9; echo $BERTH_TASK_ID")
}

// TestSlurmCutMapReduce is TestSlurmCutBag for a MapReduce job.
func TestSlurmCutMapReduce(t *testing.T) {
	t.Parallel()
	w, _ := newSlurmWorld(t)
	w.write("slow.sh", "#!/bin/sh\nsleep 9\nexec cat\n")
	var lines strings.Builder
	for i := range 20 {
		fmt.Fprintf(&lines, "%02d\tx\n", i)
	}
	w.write("in/a.txt", lines.String())
	w.cut("mapreduce", "-input", "in", "-output", "out", "-mapper", "slow.sh", "-reducer", "cat", "-numReduceTasks", "2",
		"-inputformat", "NLineInputFormat", "-c", "2")
	if got := w.output("out"); strings.Count(got, "\n") != 20 {
		t.Errorf("output is %q", got)
	}
}

// cut runs a job on one node for a minute at a time.
func (w *world) cut(command string, args ...string) {
	w.t.Helper()
	w.must(append([]string{command, "--on", "slurm", "-N", "1-1", "-t", "1", "--no-scout", "--max-allocs", "1"}, args...)...)
	w.checkNoneTwice(w.records(w.jobs()[0]))
	if n := w.allocations(); n < 4 {
		w.t.Errorf("%d allocations: it was cut %d times", n, n-1)
	}
}

// checkNoneTwice checks that no task was done more than once.
func (w *world) checkNoneTwice(all []event.Entry) {
	w.t.Helper()
	done := make(map[int]int)
	for _, e := range all {
		if r, ok := e.Record.(event.AttemptEnded); ok && r.Outcome == event.Done {
			done[r.Attempt.Task]++
		}
	}
	for task, n := range done {
		if n > 1 {
			w.t.Errorf("task %d was run %d times to completion", task, n)
		}
	}
}

// allocations returns the number of allocations whose start the journal has.
func (w *world) allocations() int {
	n := 0
	for _, e := range w.serverRecords() {
		if isBegan(e) {
			n++
		}
	}
	return n
}

func isBegan(e event.Entry) bool {
	_, is := e.Record.(event.AllocBegan)
	return is
}
