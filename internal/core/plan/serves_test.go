package plan

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// genLive draws allocations of the job's pool: of any size, that wait, have begun, or have hardly any time left.
func genLive(t *rapid.T, q *Question) (live []job.Live) {
	for range rapid.IntRange(0, 2).Draw(t, "allocations") {
		l := job.Live{Request: job.AllocRequest{On: "slurm", Nodes: rapid.IntRange(1, 3).Draw(t, "its nodes"), Elastic: true, Batch: q.Spec.Request.Batch("main"),
			PerNode: job.Resources{CPUs: rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "its cores"), Mem: 8 << 30}, Time: time.Hour}}
		if rapid.Bool().Draw(t, "it has begun") {
			l.Began = begin.Add(-time.Minute)
			l.Ends = begin.Add(time.Duration(rapid.SampledFrom([]int{-1, 5, 100, 3000}).Draw(t, "its seconds left")) * time.Second)
		}
		live = append(live, l)
	}
	return live
}

// TestPlansServe: a plan requests something, or an allocation that there is can start the next task: it is large enough, and has the time that
// the engine wants to be left. So no job waits for measurements that nothing makes, however long the queue is and whatever is open or unknown.
func TestPlansServe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		if rapid.Bool().Draw(t, "unknown") {
			q.Profile = nil
		}
		bag := q.Spec.Bag
		bag.Open, bag.Need.CPUs = rapid.Bool().Draw(t, "open"), rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "cores of a task")
		q.Spec.Request.MaxNodes, q.Spec.Request.MinNodes, q.Spec.Request.NoScout = 0, 0, rapid.Bool().Draw(t, "no scout")
		left := rapid.IntRange(1, q.Counts.Tasks).Draw(t, "left")
		span := time.Duration(rapid.SampledFrom([]int{0, 0, 60, 1200}).Draw(t, "seconds that must be left")) * time.Second
		rest := &job.Remaining{Tasks: left, Span: span, Live: genLive(t, &q),
			Needs: []job.NeedsLeft{{Needs: job.Needs{CPUs: bag.Need.CPUs}, Waiting: left, Span: span}}}
		if span > 0 && rapid.Bool().Draw(t, "cut short") {
			rest.CutShort = span / 2
		}
		q.Remaining = rest
		serves := func(l job.Live) bool {
			return bag.Need.Fits(l.Request.PerNode) && (l.Began == 0 && span < l.Request.Time || l.Began != 0 && l.Ends.Sub(begin) > max(span, time.Second))
		}
		rest.Needs[0].Unserved = !slices.ContainsFunc(rest.Live, serves)
		if p := decided(t, q); rest.Needs[0].Unserved && len(p.Requests()) == 0 {
			t.Fatalf("%q, though none of %+v starts a task: %+v", p.Decision(), rest.Live, q.Snap.Queue)
		}
	})
}

// TestScoutThatWaits: an open bag of two tasks, whose nodes were given back, has none while all nodes are busy: nodes are requested although they
// come later. Beside an allocation that measures tasks sooner, a scout that would wait is left out.
func TestScoutThatWaits(t *testing.T) {
	one := job.Resources{CPUs: 1, Mem: 8 << 30}
	queue := &cluster.Queue{User: "me", Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true, Nodes: []int{0}}},
		Running: []cluster.Queued{{ID: "1", User: "a", Partition: "main", Nodes: []int{0}, Count: 1, PerNode: one, Start: begin, Limit: time.Hour}}}
	spec := &job.Spec{ID: "bag-127", Name: "x", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}, Open: true}}
	there := job.Live{ID: "a1", Began: begin, Ends: begin.Add(time.Hour), Request: job.AllocRequest{Nodes: 1, PerNode: one, Time: time.Hour}}
	for _, c := range []struct {
		live     []job.Live
		unserved bool
		requests int
	}{{nil, true, 1}, {[]job.Live{there}, false, 0}, {[]job.Live{there}, true, 1}} {
		rest := &job.Remaining{Tasks: 2, Live: c.live, Needs: []job.NeedsLeft{{Needs: job.Needs{CPUs: 1}, Waiting: 2, Unserved: c.unserved}}}
		p, err := Decide(Question{Now: begin, Spec: spec, Counts: Counts{Tasks: 2}, Remaining: rest,
			Snap: cluster.Snapshot{Driver: "slurm", At: begin, Queue: queue, Nodes: []cluster.Node{{Name: "n0", Capacity: one}}}})
		if err != nil || len(p.Requests()) != c.requests {
			t.Errorf("with %d allocations, unserved %t: %d requests, %v %v", len(c.live), c.unserved, len(p.Requests()), p.Reasons, err)
		}
	}
}

// TestIdleTooSmall: an idle allocation of another job that is too small for the tasks of a new one is not counted on.
func TestIdleTooSmall(t *testing.T) {
	snap := twoPartitions(begin)
	spec := &job.Spec{ID: "bag-1", Name: "x", Kind: job.Bag, Request: job.Request{Partition: "a"}, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 2}}}
	for cores, requests := range map[int]int{1: 1, 2: 0} {
		idle := job.Live{ID: "a1", Began: begin, Ends: begin.Add(time.Hour), Request: job.AllocRequest{Nodes: 1, PerNode: job.Resources{CPUs: cores}, Time: time.Hour}}
		p, err := Decide(Question{Now: begin, Snap: snap, Spec: spec, Counts: Counts{Tasks: 2}, Idle: []job.Live{idle}})
		if err != nil || len(p.Requests()) != requests || len(p.Idle) != 1-requests {
			t.Errorf("%d cores: %d requests, counts on %v, %v %v", cores, len(p.Requests()), p.Idle, p.Reasons, err)
		}
	}
}
