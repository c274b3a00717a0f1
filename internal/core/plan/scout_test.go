package plan

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestScoutIsSmall: without a profile, and where not all tasks fit at once, a few nodes are requested for a short
// time, and the rest is planned after one wave of tasks. The same holds for a job that was resumed, unless one of its
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
