package cluster

import (
	"testing"

	"berth/internal/core/job"
)

// TestWithout: what a job holds is free, on its own nodes and no more than they have, and the
// snapshot itself stays as it was.
func TestWithout(t *testing.T) {
	two := job.Resources{CPUs: 2, Mem: 8, GPUs: 2, GPUType: "a"}
	snap := Snapshot{Nodes: []Node{{Name: "n1", Capacity: two}, {Name: "n2", Capacity: two, Free: job.Resources{CPUs: 1, Mem: 8, GPUs: 2, GPUType: "a"}}, {Name: "n3", Capacity: two}},
		Queue: &Queue{Running: []Queued{
			{ID: "7", Nodes: []int{0, 1}, Count: 2, PerNode: job.Resources{CPUs: 2, Mem: 4, GPUs: 1}},
			{ID: "8", Nodes: []int{2}, Count: 1, PerNode: two},
		}}}
	got := snap.Without("7")
	for i, want := range []job.Resources{{CPUs: 2, Mem: 4, GPUs: 1, GPUType: "a"}, two, {}} {
		if got.Nodes[i].Free != want {
			t.Errorf("%s has %+v free, want %+v", got.Nodes[i].Name, got.Nodes[i].Free, want)
		}
	}
	if len(got.Queue.Running) != 1 || got.Queue.Running[0].ID != "8" {
		t.Errorf("running: %+v", got.Queue.Running)
	}
	if len(snap.Queue.Running) != 2 || snap.Queue.Running[0].ID != "7" || snap.Nodes[0].Free != (job.Resources{}) {
		t.Error("the snapshot itself was changed")
	}
	if same := snap.Without("9"); len(same.Queue.Running) != 2 {
		t.Error("a job that is not there took another with it")
	}
}
