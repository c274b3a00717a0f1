package plan

import (
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// ranked is four nodes that are busy for 10 min, and four jobs of a node that wait and take 3 h each. Behind them is no room before. A
// request for three nodes or more goes before them.
func ranked(at job.Time, rank cluster.Rank) cluster.Snapshot {
	snap := idle(4)
	snap.At, snap.Queue.Rank = at, rank
	has := snap.Nodes[0].Capacity
	snap.Queue.Running = []cluster.Queued{{ID: "1", Partition: "main", Nodes: []int{0, 1, 2, 3}, Count: 4, PerNode: has, Start: at, Limit: 10 * time.Minute}}
	for range 4 {
		snap.Queue.Pending = append(snap.Queue.Pending, cluster.Queued{ID: "2", Partition: "main", Count: 1, PerNode: has, Limit: 3 * time.Hour, Rank: 2.5 * float64(has.CPUs)})
	}
	return snap
}

// TestLargeRequestsGoFirst: where the batch system prefers large requests, a job gets as many nodes as let it go before those that
// wait, and its start is predicted by that; where it does not, the job waits behind them.
func TestLargeRequestsGoFirst(t *testing.T) {
	const at = job.Time(1000)
	spec := &job.Spec{ID: "bag-1", Name: "x", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}, MaxFails: -1}}
	prof := &predict.Profile{App: predict.Application(spec)}
	var c predict.Collector
	for range 200 {
		c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Minute)}})
	}
	prof.AddRun(predict.Size{Kind: job.Bag, Tasks: 200}, 0, c.Measures())
	for _, x := range []struct {
		rank  cluster.Rank
		least int
		after time.Duration
	}{
		{cluster.Rank{}, 1, 190 * time.Minute},
		{cluster.Rank{PerCore: 1}, 3, 10 * time.Minute},
	} {
		p, err := Decide(Question{Now: at, Snap: ranked(at, x.rank), Spec: spec, Counts: Counts{Tasks: 16}, Profile: prof})
		if err != nil {
			t.Fatal(err)
		}
		if first := p.Outlook.Wait; p.Alloc.Nodes < x.least || len(p.More) > 0 || first != x.after.Seconds() {
			t.Errorf("%+v: asks for %+v and %v, starting in %v s", x.rank, p.Alloc, p.More, first)
		}
	}
}

// TestLargeRequestsGoFirstByHistory: the simulated queue of a request that goes before jobs that wait is without them, too.
func TestLargeRequestsGoFirstByHistory(t *testing.T) {
	snap := ranked(begin, cluster.Rank{PerCore: 1})
	view := cluster.View{PerNode: snap.Nodes[0].Capacity}
	behind, _ := snap.Moving(view)
	view.Nodes = 3
	before, _ := snap.Moving(view)
	if behind == nil || before == nil || len(behind.Waiting) != 4 || len(before.Waiting) != 0 {
		t.Errorf("behind %+v, before %+v", behind, before)
	}
}
