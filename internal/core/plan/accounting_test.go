package plan

import (
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// TestAccounting: plans keep to the limits of accounting; where no request is feasible the error names the account or
// QOS.
func TestAccounting(t *testing.T) {
	const at = job.Time(1000)
	for _, c := range []struct {
		name        string
		bounds      cluster.Bounds
		cpus, nodes int // that each task and the job want
		least       int64
		refused     string
	}{
		{"time", cluster.Bounds{cluster.WallTime: int64(10 * time.Minute)}, 1, 0, 0, ""},
		{"no fewer CPUs", cluster.Bounds{}, 1, 0, 4, ""},
		{"nodes of a job", cluster.Bounds{cluster.JobNodes: 1}, 1, 0, 0, ""},
		{"CPUs of a user", cluster.Bounds{cluster.UserCPUs: 2}, 1, 0, 0, ""},
		{"fewer CPUs than a task has", cluster.Bounds{cluster.GroupCPUs: 2}, 4, 0, 0, "QOS normal"},
		{"fewer nodes than wanted", cluster.Bounds{cluster.JobNodes: 1}, 1, 2, 0, "QOS normal allows 1"},
	} {
		snap := twoPartitions(at)
		snap.Queue.Accounting = &cluster.Accounting{Associations: []cluster.Association{{Account: "main", Default: true, QOS: "normal"}}, QOS: []cluster.QOS{{Name: "normal", Bounds: c.bounds, MinCPUs: c.least}}}
		spec := &job.Spec{ID: "bag-1", Name: "x", Kind: job.Bag, Request: job.Request{Partition: "b", MinNodes: c.nodes},
			Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: c.cpus}, MaxFails: -1}}
		p, err := Decide(Question{Now: at, Snap: snap, Spec: spec, Counts: Counts{Tasks: 300}})
		if c.refused != "" {
			if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, r := range p.Requests() {
			if r.Time > 10*time.Minute && c.bounds[cluster.WallTime] > 0 || r.Nodes > 1 && c.bounds[cluster.JobNodes] > 0 || r.Nodes*r.PerNode.CPUs > 2 && c.bounds[cluster.UserCPUs] > 0 || r.Nodes*r.PerNode.CPUs < int(c.least) {
				t.Errorf("%s: it asks for %+v", c.name, r)
			}
		}
	}
}

// TestAccountingGPUs: plans keep to the limits on GPUs of accounting, which bound no job without GPUs.
func TestAccountingGPUs(t *testing.T) {
	const at = job.Time(1000)
	decide := func(gpus, limit, least int) (Plan, error) {
		snap := twoPartitions(at)
		for i := range snap.Nodes {
			snap.Nodes[i].Capacity.GPUs, snap.Nodes[i].Free.GPUs = 4, 4
		}
		snap.Queue.Accounting = &cluster.Accounting{Associations: []cluster.Association{{Account: "main", Default: true, QOS: "normal"}},
			QOS: []cluster.QOS{{Name: "normal", Bounds: cluster.Bounds{cluster.UserGPUs: int64(limit)}}}}
		spec := &job.Spec{ID: "bag-1", Name: "x", Kind: job.Bag, Request: job.Request{Partition: "b", MinNodes: least},
			Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1, GPUs: gpus}, MaxFails: -1}}
		return Decide(Question{Now: at, Snap: snap, Spec: spec, Counts: Counts{Tasks: 300}})
	}
	p, err := decide(1, 3, 0)
	if err != nil || len(p.Requests()) == 0 {
		t.Fatal(err)
	}
	for _, r := range p.Requests() {
		if n := r.Nodes * r.PerNode.GPUs; n < 1 || n > 3 {
			t.Errorf("it asks for %+v", r)
		}
	}
	if _, err := decide(2, 3, 2); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "2 nodes with 2 GPUs each are required, but it allows 3 GPUs in all") {
		t.Errorf("more than the QOS allows: %v", err)
	}
	if p, err := decide(0, 1, 0); err != nil || p.Alloc.PerNode.GPUs != 0 {
		t.Errorf("without GPUs: %+v, %v", p.Alloc, err)
	}
}
