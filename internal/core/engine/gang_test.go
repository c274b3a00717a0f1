package engine

import (
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// TestGangsGone: after its last job with gangs has gone, no job of a pool is examined that an allocation without an end serves.
func TestGangsGone(t *testing.T) {
	e := New(Config{})
	has := job.Resources{CPUs: 4, Mem: 4 << 30}
	give := func(in step.Input) {
		t.Helper()
		if _, err := e.Step(1, in); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []job.Work{{ID: "bag-1"}, {ID: "bag-2", Terms: job.Terms{Gang: job.Gang{Ranks: 2}}}, {ID: "bag-3", Terms: job.Terms{Gang: job.Gang{Ranks: 2}}}} {
		w.Kind, w.Tasks, w.Alloc = job.Bag, 1, job.AllocRequest{On: "sim", Nodes: 1, PerNode: has}
		w.Need, w.Attempts, w.MaxFails = job.Resources{CPUs: 1, Mem: 1 << 20}, 1, -1
		give(step.Submit{Work: w})
	}
	give(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Host: "h", Addr: "h:1", Capacity: has}})
	for _, id := range []job.ID{"bag-2", "bag-3"} {
		if p := e.pools[0]; p.servesAll() || len(p.allocs) != 1 {
			t.Errorf("before the end of %s no job is examined", id)
		}
		give(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: job.Attempt{Job: id, N: 1}, Outcome: event.Failed}})
	}
	if !e.pools[0].servesAll() {
		t.Error("all jobs are examined, though none has gangs")
	}
}
