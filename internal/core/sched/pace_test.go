package sched

import (
	"testing"

	"berth/internal/core/job"
)

// TestPace: reduces that fetch divide the network of their node. A reduce that waits for maps, sorts or fetches alone has no limit, and
// only changes are reported.
func TestPace(t *testing.T) {
	p := &Pool{Policy: Phases.Policy(Auto, true, 1)}
	n := &Node{Index: 1, Up: true, Capacity: job.Vector{CPU: 4000, Memory: (1 << 30), Net: 100e6}}
	ready, waiting := &Job{ID: "a"}, &Job{ID: "b", Waits: true}
	put := func(j *Job, task int) *Running {
		r := &Running{ID: job.Attempt{Job: j.ID, Task: task}, Job: j, Kind: job.ReduceTask, Through: job.PhaseShuffle}
		p.Occupy(n, r)
		p.Shuffle(n, r, j.Waits)
		return r
	}
	told := func() (count int) {
		p.Pace(func(*Node, *Running) { count++ })
		return count
	}
	first := put(ready, 0)
	put(waiting, 0)
	if told() != 0 || first.Net != 0 {
		t.Fatal("one that fetches alone has a limit")
	}
	second := put(ready, 1)
	n.Up = false
	if told() != 0 {
		t.Fatal("a node that is down is told")
	}
	n.Up = true
	if told() != 2 || first.Net != 62.5e6 || second.Net != 62.5e6 {
		t.Fatalf("two that fetch have %d and %d bytes/s", first.Net, second.Net)
	}
	if told() != 0 {
		t.Fatal("what has not changed is told again")
	}
	p.Grant(n, second, job.PhaseReduce, job.Vector{})
	if told() != 1 || first.Net != 0 {
		t.Fatalf("the last one that fetches has %d bytes/s", first.Net)
	}
	waiting.Waits = false
	for _, a := range n.Running {
		p.Shuffle(n, a, false)
	}
	if told() != 2 || first.Net != 62.5e6 {
		t.Fatal("one that need wait for maps no more is not counted")
	}
}
