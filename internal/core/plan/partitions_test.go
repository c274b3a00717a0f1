package plan

import (
	"slices"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/engine"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/step"
)

// twoPartitions is a free cluster of two partitions, each with nodes of its own.
func twoPartitions(at job.Time) cluster.Snapshot {
	has := job.Resources{CPUs: 4, Mem: 8 << 30}
	q := &cluster.Queue{User: "me", Grain: time.Minute, Partitions: []cluster.Partition{
		{Name: "a", Nodes: []int{0, 1}, MaxTime: time.Hour}, {Name: "b", Nodes: []int{2, 3}, MaxTime: 2 * time.Hour}}}
	snap := cluster.Snapshot{Driver: "slurm", At: at, Queue: q}
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: name, Capacity: has, Free: has})
	}
	return snap
}

// TestTwoPartitions: where a job may run in several partitions it is planned for, and gets, allocations
// in more than one of them, at first and when the rest is planned.
func TestTwoPartitions(t *testing.T) {
	const at = job.Time(1000)
	for _, named := range []string{"a,b", ""} { // the latter with no partition that is the default
		spec := &job.Spec{ID: "bag-1", Name: "x", Kind: job.Bag, Request: job.Request{Partition: named},
			Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}, MaxFails: -1}}
		prof := &predict.Profile{App: predict.Application(spec)}
		var c predict.Collector
		for range 200 {
			c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Minute)}})
		}
		prof.AddRun(predict.Size{Kind: job.Bag, Tasks: 200}, 0, c.Measures())
		p, err := Decide(Question{Now: at, Snap: twoPartitions(at), Spec: spec, Counts: Counts{Tasks: 300}, Profile: prof})
		if err != nil {
			t.Fatal(err)
		}
		in := func(p Plan) (parts []string) {
			for _, r := range p.Requests() {
				parts = append(parts, r.Batch.Partition)
			}
			slices.Sort(parts)
			return slices.Compact(parts)
		}
		if !slices.Equal(in(p), []string{"a", "b"}) {
			t.Fatalf("-p %q: planned in %v", named, in(p))
		}
		e := engine.New(engine.Config{NodeTimeout: time.Minute})
		out, err := e.Step(at, step.Submit{Work: Work(spec, p)})
		if err != nil {
			t.Errorf("-p %q: %v", named, err)
		}
		asked := 0
		for _, a := range out.Actions {
			if _, ok := a.(step.Request); ok {
				asked++
			}
		}
		if asked != len(p.Requests()) {
			t.Errorf("-p %q: asked for %d allocations of %d", named, asked, len(p.Requests()))
		}
		q := Question{Now: at, Snap: twoPartitions(at), Spec: spec, Profile: prof, Remaining: &job.Remaining{Tasks: 300}}.Again(p, nil)
		rest, err := Decide(q)
		if err != nil || !slices.Equal(in(rest), []string{"a", "b"}) {
			t.Errorf("-p %q: the rest is planned in %v, %v", named, in(rest), err)
		}
		for _, r := range rest.Requests() {
			if r.Batch.Key() != p.Alloc.Batch.Key() {
				t.Errorf("-p %q: %+v does not serve the job of %+v", named, r.Batch, p.Alloc.Batch)
			}
		}
	}
}
