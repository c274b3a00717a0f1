package plan

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestScoutIsSmall: without a profile, and where not all tasks fit at once, nodes for an eighth of the tasks are requested for a short
// time, few of the cluster's while others wait, and the rest is planned after one wave of tasks. The same holds for a job that was resumed, unless one of its
// tasks was cut short.
func TestScoutIsSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		q.Profile, q.Spec.Request.WallTime = nil, ""
		if rapid.Bool().Draw(t, "resumed") {
			q.Remaining = &job.Remaining{Tasks: q.Counts.Tasks}
		}
		p := decided(t, q)
		if p.Scout == 0 {
			slots := p.Alloc.Nodes * p.Alloc.PerNode.CPUs
			if asked := p.Alloc.Start != 0; asked && slots < q.Counts.Tasks {
				t.Fatalf("%d tasks on %d slots, and no scout", q.Counts.Tasks, slots)
			}
			return
		}
		most := max(2, q.Spec.Request.MinNodes, len(q.Snap.Nodes)/4)
		if len(q.Snap.Queue.Pending) == 0 {
			most = max(most, 5, (q.Counts.Tasks+7)/8)
		}
		if p.Alloc.Nodes > most || p.Alloc.Time > 30*time.Minute || len(p.More) > 0 {
			t.Fatalf("the scout has %d of %d nodes for %v, and %d more", p.Alloc.Nodes, len(q.Snap.Nodes), p.Alloc.Time, len(p.More))
		}
		if wave := max(3, p.TaskSlots); p.Scout > wave {
			t.Fatalf("%d tasks are measured on %d slots", p.Scout, p.TaskSlots)
		}
	})
}

// TestNoScoutAfterCutShort: a task that ran longer than its allocation is not measured by a scout.
func TestNoScoutAfterCutShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		q.Profile = nil
		q.Remaining = &job.Remaining{Tasks: q.Counts.Tasks, CutShort: time.Minute}
		if p := decided(t, q); p.Scout != 0 {
			t.Fatalf("a scout for %d tasks", p.Scout)
		}
	})
}

// TestScoutOfGrownBag: an open bag that was planned for a task and has many now gets a scout beside its allocation, and one that is
// closed does not. Once it has as many slots as a scout it gets nothing further, and its tasks are measured.
func TestScoutOfGrownBag(t *testing.T) {
	for _, c := range []struct {
		open            bool
		cores           int
		requests, scout int
	}{{true, 1, 1, 8}, {true, 50, 0, 25}, {false, 1, 0, 0}} {
		snap := twoPartitions(begin)
		spec := &job.Spec{ID: "bag-1", Name: "x", Kind: job.Bag, Request: job.Request{Partition: "a"},
			Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}, Open: c.open}}
		has := job.AllocRequest{On: "slurm", Nodes: 1, PerNode: job.Resources{CPUs: c.cores}, Time: time.Hour, Elastic: true, Batch: spec.Request.Batch("a")}
		live := job.Live{Request: has, Start: begin, Began: begin, Ends: begin.Add(time.Hour)}
		p, err := Decide(Question{Now: begin, Snap: snap, Spec: spec, Counts: Counts{Tasks: 100}, Remaining: &job.Remaining{Tasks: 100, Live: []job.Live{live}}})
		if err != nil || len(p.Requests()) != c.requests || p.Scout != c.scout {
			t.Errorf("open %t, with %d cores: %d requests, %d tasks are measured, %v %v", c.open, c.cores, len(p.Requests()), p.Scout, p.Reasons, err)
		}
	}
}
