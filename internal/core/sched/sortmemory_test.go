package sched

import (
	"testing"

	"berth/internal/core/job"
)

// TestSortMemory checks how much of 400 MiB of sort memory the next task gets on a node of two cores.
func TestSortMemory(t *testing.T) {
	const mb = int64(1) << 20
	takes := func(cpu, memory, disk int64) job.Vector {
		return job.Vector{CPU: cpu, Memory: memory * mb, Disk: disk * 1e6}
	}
	write := takes(1000, 100, 900)
	shuffles, sorts := &Running{Through: job.PhaseShuffle}, &Running{Through: job.PhaseReduce}
	for _, c := range []struct {
		name    string
		runs    []*Running
		granted int64 // MiB
		next    Candidate
		want    int64 // MiB
	}{
		{"the first of two", nil, 0, Candidate{Needs: Needs{Kind: job.MapTask, Demand: takes(1000, 100, 0)}}, 200},
		{"the second", []*Running{{Through: job.PhaseMerge, Holds: takes(1000, 100, 0)}}, 200, Candidate{Needs: Needs{Kind: job.MapTask, Demand: takes(1000, 100, 0)}}, 200},
		{"one that takes both cores", nil, 0, Candidate{Needs: Needs{Kind: job.MapTask, Demand: takes(2000, 100, 0)}}, 400},
		{"tasks that hardly compute have no less than those that do", nil, 0, Candidate{Needs: Needs{Kind: job.MapTask, Demand: takes(100, 100, 0)}}, 200},
		{"two that write more than the disk can", nil, 0, Candidate{Needs: Needs{Kind: job.MapTask, Demand: write}}, 200},
		{"a reduce that begins sorts later", nil, 0, Candidate{Needs: Needs{Kind: job.ReduceTask}}, 0},
		{"the first of two reduces that have fetched all", []*Running{shuffles, shuffles}, 0, Candidate{Needs: Needs{Kind: job.ReduceTask, Demand: write}, Running: shuffles}, 200},
		{"one of a crowd has an eighth at least", []*Running{sorts, sorts}, 390, Candidate{Needs: Needs{Kind: job.MapTask}}, 50},
	} {
		n := &Node{Capacity: takes(2000, 4000, 100), SortMemory: 400 * mb, Running: c.runs, sorting: c.granted * mb}
		for _, r := range c.runs {
			n.Used = n.Used.Plus(r.Holds)
			if r.Shuffles() {
				n.Shuffles++
			}
		}
		pool := Phases.Pool(Auto, false, 1)
		if got := pool.SortMemory(n, &c.next); got != c.want*mb {
			t.Errorf("%s: %d MiB, want %d", c.name, got/mb, c.want)
		}
	}
}
