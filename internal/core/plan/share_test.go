package plan

import (
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// TestShareNeverOversubscribes: workers together have no more memory than the
// machine, no more cores unless there are more workers than cores, and tasks that
// run at once fit them.
func TestShareNeverOversubscribes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		has := job.Resources{CPUs: rapid.IntRange(1, 128).Draw(t, "cpus"), Mem: rapid.Int64Range(1<<28, 1<<40).Draw(t, "mem")}
		need := job.Resources{CPUs: rapid.IntRange(1, 16).Draw(t, "need cpus"), Mem: rapid.Int64Range(0, 1<<34).Draw(t, "need mem")}
		spec := &job.Spec{Kind: job.Bag, Bag: &job.BagSpec{Need: need, Throttle: rapid.IntRange(0, 40).Draw(t, "throttle")}}
		spec.Request.Workers = rapid.IntRange(0, 40).Draw(t, "workers")
		spec.Request.MinNodes = rapid.IntRange(0, 10).Draw(t, "min")
		if m := rapid.IntRange(0, 20).Draw(t, "max"); m >= spec.Request.MinNodes {
			spec.Request.MaxNodes = m
		}
		l, err := DivideMachine(cluster.Snapshot{Nodes: []cluster.Node{{Capacity: has}}}, spec)
		if err != nil {
			if job.ClassOf(err) != job.User {
				t.Fatalf("not the user's error: %v", err)
			}
			if need.Fits(has) && spec.Request.Workers <= 1 && spec.Request.MinNodes <= 1 {
				t.Fatalf("%+v fits %+v, yet: %v", need, has, err)
			}
			return
		}
		r := spec.Request
		if l.Nodes < max(1, r.MinNodes) || r.MaxNodes > 0 && l.Nodes > r.MaxNodes {
			t.Fatalf("%d nodes for %+v", l.Nodes, r)
		}
		cpus := l.Nodes * l.PerNode.CPUs
		if cpus > max(has.CPUs, l.Nodes) || int64(l.Nodes)*l.PerNode.Mem > has.Mem {
			t.Fatalf("%d × %+v of %+v", l.Nodes, l.PerNode, has)
		}
		if got := l.Speed * float64(cpus); got > float64(has.CPUs)+1e-9 {
			t.Fatalf("cores of speed %g together, of %d", got, has.CPUs)
		}
		perNode := (l.TaskSlots + l.Nodes - 1) / l.Nodes
		if l.TaskSlots < 1 || perNode*need.CPUs > l.PerNode.CPUs || int64(perNode)*need.Mem > l.PerNode.Mem {
			t.Fatalf("%d tasks of %+v at once on %d × %+v", l.TaskSlots, need, l.Nodes, l.PerNode)
		}
		if l.SortMemory < leastSort || l.MapMemory() <= 0 {
			t.Fatalf("sort memory %d, %d a map", l.SortMemory, l.MapMemory())
		}
	})
}

func TestDurationsForPeople(t *testing.T) {
	for seconds, want := range map[float64]string{
		0.0123: "12 ms", 0.0042: "4.2 ms", 1: "1 s", 17.4: "17 s", 119: "119 s", 150: "2.5 min",
		3600: "60 min", 9000: "2.5 h", 86400 * 3: "3 days",
	} {
		if got := duration(seconds); got != want {
			t.Errorf("%g s: %q, want %q", seconds, got, want)
		}
	}
}
