package test

import (
	"testing"
	"time"

	"berth/internal/event"
)

// TestSlurmScout: on an empty cluster of eight nodes a bag of which nothing is known begins on a
// few of them, for a short time, and goes on with the others while these are still there: the
// tasks after the first four end only once twelve of them run at the same time.
func TestSlurmScout(t *testing.T) {
	t.Parallel()
	w, _ := newSlurmWorld(t)
	w.write("in/.keep", "")
	w.write("task.sh", "#!/bin/sh\nsleep 5\n[ $1 -gt 4 ] || exit 0\ntouch in/$1\nwhile [ $(ls in | wc -l) -lt 12 ]; do sleep 0.1; done\n")
	w.must("bag", "--on", "slurm", "--array", "1-60", "--", "./task.sh", "{}")
	var asked []event.AllocRequested
	for _, e := range w.serverRecords() {
		if r, ok := e.Record.(event.AllocRequested); ok {
			asked = append(asked, r)
		}
	}
	if len(asked) < 2 {
		t.Fatalf("what was asked for: %+v", asked)
	}
	if r := asked[0].Request; r.Nodes > 2 || r.Time > 30*time.Minute {
		t.Errorf("the scout has %d of 8 nodes for %v", r.Nodes, r.Time)
	}
	checkOnce(t, w.records(w.jobs()[0]))
}
