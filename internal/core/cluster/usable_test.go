package cluster

import (
	"slices"
	"testing"

	"berth/internal/core/job"
)

// TestUsable: only nodes of the partition count that are up, large enough and have what
// is asked for, and the others are told.
func TestUsable(t *testing.T) {
	node := func(cpus int, down string, features ...string) Node {
		return Node{Capacity: job.Resources{CPUs: cpus}, Down: down, Features: features}
	}
	snap := Snapshot{Nodes: []Node{node(4, "", "ib"), node(4, "drained", "ib"), node(2, "", "ib"), node(8, "", "ib"), node(8, ""), node(8, "", "ib")},
		Queue: &Queue{Partitions: []Partition{{Name: "main", Default: true, Nodes: []int{0, 1, 2, 3, 4}}}}}
	nodes, facts := snap.Usable(View{PerNode: job.Resources{CPUs: 4}, Constraint: "ib"})
	if want := []int{0, 3}; !slices.Equal(nodes, want) || facts.Usable != len(want) {
		t.Errorf("nodes %v (%d), want %v", nodes, facts.Usable, want)
	}
	want := []Excluded{{"drained", 1}, {"lacks ib", 1}, {"too small", 1}}
	if !slices.Equal(facts.Excluded, want) {
		t.Errorf("excluded %v, want %v", facts.Excluded, want)
	}
}
