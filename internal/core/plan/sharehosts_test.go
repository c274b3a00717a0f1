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
		l, err := DivideMachine(three, spec(tt.least, tt.most, tt.cpus))
		if err != nil || l.Nodes != tt.nodes || l.TaskSlots != tt.slots || l.PerNode.CPUs != 8 {
			t.Errorf("%+v: %d nodes, %d slots, %+v, %v", tt, l.Nodes, l.TaskSlots, l.PerNode, err)
		}
	}
	unlike := cluster.Snapshot{Driver: "ssh", Nodes: []cluster.Node{{Name: "a", Capacity: job.Resources{CPUs: 2, Mem: 64 << 30}}, {Name: "b", Capacity: job.Resources{CPUs: 16, Mem: 8 << 30}}}}
	large := spec(0, 0, 1)
	large.Bag.Need.Mem = 4 << 30
	if l, err := DivideMachine(unlike, large); err != nil || l.TaskSlots != 4 {
		t.Errorf("one host lacks cores and one memory: %d slots, want 2 each, %v", l.TaskSlots, err)
	}
	if _, err := DivideMachine(three, spec(4, 0, 1)); job.ClassOf(err) != job.User {
		t.Errorf("more nodes than hosts: %v", err)
	}
	if _, err := DivideMachine(three, spec(0, 0, 9)); err == nil || !strings.Contains(err.Error(), "node a has 8 cores") {
		t.Errorf("a task that fits no host: %v", err)
	}
	p, err := Decide(Question{Snap: three, Spec: spec(0, 2, 1), Counts: Counts{Tasks: 5}})
	if err != nil || p.Alloc.Nodes != 2 || p.Alloc.Remote.Key() != ",a,b" {
		t.Errorf("%+v, %v", p.Alloc, err)
	}
}

// TestShareHostsAmongNeeds: of tasks of different needs as many run at once as all hosts together run on average, and each needs only one host
// that holds it. Machines are not rented for them.
func TestShareHostsAmongNeeds(t *testing.T) {
	snap := cluster.Snapshot{Driver: "ssh", Nodes: []cluster.Node{
		{Name: "a", Capacity: job.Resources{CPUs: 16, Mem: 16 << 30}},
		{Name: "b", Capacity: job.Resources{CPUs: 4, Mem: 16 << 30, GPUs: 2}},
	}}
	spec := &job.Spec{Kind: job.Bag, Bag: &job.BagSpec{Need: job.Resources{CPUs: 1}}}
	spec.Request.Remote.Hosts = []job.Host{{Name: "a"}, {Name: "b"}}
	left := func(large, gpus int) []job.NeedsLeft {
		return []job.NeedsLeft{{Needs: job.Needs{CPUs: 1}, Waiting: 30}, {Needs: job.Needs{CPUs: large}, Waiting: 5}, {Needs: job.Needs{CPUs: 1, GPUs: gpus}, Waiting: 5}}
	}
	q := Question{Snap: snap, Spec: spec, Counts: Counts{Tasks: 40, Needs: left(8, 1)}}
	p, err := Decide(q)
	// A task has 1.875 cores on average, so 20 cores run 10.7.
	if err != nil || p.TaskSlots != 11 || p.Alloc.Nodes != 2 || len(p.Mix) != 3 {
		t.Errorf("%d at once on %d hosts, %+v, %v", p.TaskSlots, p.Alloc.Nodes, p.Mix, err)
	}
	q.Counts.Needs = left(4, 2) // one task with GPUs runs at once, and one of eight has some
	if p, err = Decide(q); err != nil || p.TaskSlots != 8 {
		t.Errorf("%d at once, %v", p.TaskSlots, err)
	}
	q.Counts.Needs = left(17, 1)
	if _, err = Decide(q); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "a task of 17 cores needs 17 cores, but node a has 16 cores") {
		t.Errorf("a task that fits no host: %v", err)
	}
	rented := *spec
	rented.Request.On, rented.Request.Remote = "ec2", job.Remote{Rent: job.Rent{Machines: []job.Rented{{Name: "m", Count: 2}}}}
	q.Spec, q.Counts.Needs = &rented, left(4, 1)
	if _, err = Decide(q); job.ClassOf(err) != job.User || !strings.HasPrefix(err.Error(), "--on ec2: machines are rented only for tasks that all need the same") {
		t.Errorf("on rented machines: %v", err)
	}
}
