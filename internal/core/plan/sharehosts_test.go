package plan

import (
	"strings"
	"testing"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// TestShareHosts: slots are counted host by host, bounds on nodes take the first hosts, and one that is down has no slots yet.
func TestShareHosts(t *testing.T) {
	three := cluster.Snapshot{Driver: "ssh", Nodes: []cluster.Node{
		{Name: "a", Capacity: job.Resources{CPUs: 8, Mem: 16 << 30}},
		{Name: "b", Down: "no answer"},
		{Name: "c", Capacity: job.Resources{CPUs: 3, Mem: 4 << 30}},
	}}
	spec := func(least, most, cpus int) *job.Spec {
		s := &job.Spec{Kind: job.Bag, Bag: &job.BagSpec{Need: job.Resources{CPUs: cpus}}}
		s.Request.MinNodes, s.Request.MaxNodes = least, most
		s.Request.Remote.Hosts = []job.Host{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		return s
	}
	for _, tt := range []struct{ least, most, cpus, nodes, slots int }{{0, 0, 1, 3, 11}, {0, 0, 2, 3, 5}, {0, 2, 1, 2, 8}, {3, 3, 4, 3, 2}} {
		l, err := Share(three, spec(tt.least, tt.most, tt.cpus))
		if err != nil || l.Nodes != tt.nodes || l.TaskSlots != tt.slots || l.PerNode.CPUs != 8 {
			t.Errorf("%+v: %d nodes, %d slots, %+v, %v", tt, l.Nodes, l.TaskSlots, l.PerNode, err)
		}
	}
	if _, err := Share(three, spec(4, 0, 1)); job.ClassOf(err) != job.User {
		t.Errorf("more nodes than hosts: %v", err)
	}
	if _, err := Share(three, spec(0, 0, 9)); err == nil || !strings.Contains(err.Error(), "node a has 8 cores") {
		t.Errorf("a task that fits no host: %v", err)
	}
	p, err := Decide(Question{Snap: three, Spec: spec(0, 2, 1), Counts: Counts{Tasks: 5}})
	if err != nil || p.Alloc.Nodes != 2 || p.Alloc.Remote.Key() != ",a,b" {
		t.Errorf("%+v, %v", p.Alloc, err)
	}
}
