package plan

import (
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// openBag returns the question of how the rest of an open bag is planned on idle nodes with four cores each.
func openBag(nodes, tasks int) Question {
	spec := &job.Spec{ID: "bag-1", Name: "x", Kind: job.Bag, Request: job.Request{Partition: "main"},
		Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}, Open: true}}
	return Question{Now: begin, Snap: idle(nodes), Spec: spec, Counts: Counts{Tasks: tasks}, Remaining: &job.Remaining{Tasks: tasks}}
}

// TestRunningTasksPlanned: what the first tasks took that were done stands for all only if no others have run for longer: else the request
// is for longer, and so are tasks expected to be. The same holds for tasks with the same needs.
func TestRunningTasksPlanned(t *testing.T) {
	plan := func(age time.Duration, own bool) Plan {
		q := openBag(4, 100)
		var c predict.Collector
		for i := range 6 {
			c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Duration(i+5) * time.Second)}})
		}
		q.Measured = Measured(c.Measures())
		left := job.NeedsLeft{Needs: job.Needs{CPUs: 1}, Waiting: 90, Running: 10}
		for range 10 {
			left.Ages = append(left.Ages, age)
		}
		if q.Remaining.Needs = []job.NeedsLeft{left}; own {
			q.Own, q.Measured = []Own{{Measured: q.Measured}}, nil
		}
		p, err := Decide(q)
		if err != nil || len(p.Requests()) == 0 {
			t.Fatalf("%v, %v", p.Reasons, err)
		}
		return p
	}
	for _, own := range []bool{false, true} {
		young, old := plan(time.Second, own), plan(5*time.Minute, own)
		if young.TaskMean > 12*time.Second || old.TaskMean < time.Minute {
			t.Errorf("own %t: tasks are expected to take %v, and %v while others run for 5 min", own, young.TaskMean, old.TaskMean)
		}
		if old.TaskTime < 5*time.Minute || old.Alloc.Time < 2*young.Alloc.Time {
			t.Errorf("own %t: %v for %v, instead of %v", own, old.TaskTime, old.Alloc.Time, young.Alloc.Time)
		}
	}
}

// TestScoutOfOpenBag: a scout of an open bag has slots for half of its tasks while nobody else waits for nodes, and else is small.
func TestScoutOfOpenBag(t *testing.T) {
	for _, c := range []struct {
		pending []cluster.Queued
		nodes   int
	}{
		{nil, 8},
		{[]cluster.Queued{{ID: "1", User: "me", Partition: "main", Count: 1, Limit: time.Hour}}, 8},
		{[]cluster.Queued{{ID: "1", User: "other", Partition: "main", Count: 1, Limit: time.Hour, Held: "JobHeldUser"}}, 8},
		{[]cluster.Queued{{ID: "1", User: "other", Partition: "main", Count: 1, Limit: time.Hour}}, 2},
	} {
		q := openBag(8, 64)
		q.Snap.Queue.Pending = c.pending
		p, err := Decide(q)
		if err != nil || p.Alloc.Nodes != c.nodes || p.Scout == 0 {
			t.Errorf("%+v: %d nodes, %d tasks are measured: %v %v", c.pending, p.Alloc.Nodes, p.Scout, p.Reasons, err)
		}
		q.Remaining.Live = []job.Live{{Request: p.Alloc, Start: begin, Began: begin, Ends: begin.Add(p.Alloc.Time)}}
		for i := range q.Snap.Nodes {
			q.Snap.Nodes[i].Free = job.Resources{}
			q.Snap.Queue.Running = append(q.Snap.Queue.Running, cluster.Queued{ID: "2", User: "me", Partition: "main", Nodes: []int{i}, Count: 1,
				PerNode: q.Snap.Nodes[i].Capacity, Start: begin, Limit: p.Alloc.Time})
		}
		q.Remaining.Tasks = 640
		if p, err = Decide(q); err != nil || len(p.Requests()) > 0 || p.Scout == 0 {
			t.Errorf("%+v: with many more tasks, while no node is free: %v, %d tasks are measured: %v %v", c.pending, p.Requests(), p.Scout, p.Reasons, err)
		}
	}
}
