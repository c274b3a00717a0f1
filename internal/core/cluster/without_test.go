package cluster

import (
	"testing"
	"time"

	"pgregory.net/rapid"

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

// TestGivenBackIsFree: the nodes of a running job are in use up to the time at which it is expected to be given back, if its limit is not before, and
// no node is free later than without that.
func TestGivenBackIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, v := anySnapshot(t)
		s.Queue.Pending = nil
		if len(s.Queue.Running) == 0 {
			t.Skip("nothing runs")
		}
		before, _ := s.Timeline(v)
		own := &s.Queue.Running[0]
		own.ID = "7"
		at := s.At.Add(time.Duration(rapid.IntRange(-10, 90).Draw(t, "given back")) * time.Second)
		given := s.GivenBack("7", at)
		if own.Free != 0 {
			t.Fatal("the snapshot itself was changed")
		}
		line, _ := given.Timeline(v)
		own.Limit = min(own.Limit, max(at, s.At.Add(time.Second)).Sub(own.Start))
		if past := own.Start.Add(own.Limit) <= s.At; past { // it counts for a while longer, or up to the time at which it is given back
			own.Limit = min(s.At.Add(grace), max(at, s.At.Add(time.Second))).Sub(own.Start)
		}
		shorter, _ := s.Timeline(v)
		for sec := range 100 {
			x := s.At.Add(time.Duration(sec) * time.Second)
			if got, want := line.At(x), shorter.At(x); got != want || got < before.At(x) {
				t.Fatalf("%d nodes are free after %d s, want %d, and %d are if it is not given back", got, sec, want, before.At(x))
			}
		}
	})
}
