package plan

import (
	"slices"
	"strings"
	"testing"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// A request asks for the licences that its tasks can use at once, no more than there are, and only for those that the batch system has. An
// allocation without them serves no such job.
func TestLicences(t *testing.T) {
	for _, c := range []struct {
		uses     job.Uses
		throttle int
		want     job.Uses
	}{
		{"", 0, ""}, {"other=1", 0, ""}, {"matlab=1", 3, "matlab=3"}, {"matlab=2,other=1", 2, "matlab=4"}, {"db=1,matlab=1", 5, "db=5,matlab=5"}, {"matlab=1", 0, "matlab=6"},
	} {
		q := openBag(4, 100)
		q.Spec.Bag.Open, q.Spec.Bag.Uses, q.Spec.Bag.Throttle = false, c.uses, c.throttle
		q.Snap.Queue.Licences = []cluster.Licence{{Name: "db", Total: 20, Free: 20}, {Name: "matlab", Total: 6, Free: 5}}
		p, err := Decide(q)
		if err != nil || len(p.Requests()) == 0 {
			t.Fatalf("%s: %v, %v", c.uses, p.Reasons, err)
		}
		r := p.Requests()[0]
		if r.Batch.Licences != c.want {
			t.Errorf("tasks that use %q, %d at once: %d nodes of %v request %q, want %q", c.uses, c.throttle, r.Nodes, r.PerNode, r.Batch.Licences, c.want)
		}
		said := slices.ContainsFunc(p.Reasons, func(s string) bool { return strings.Contains(s, "(5 of 6 are free)") })
		if said != (c.want != "") {
			t.Errorf("the plan says %q", p.Reasons)
		}
		if !Serves(&q.Snap, q.Spec, r) {
			t.Errorf("%+v does not serve the job itself", r.Batch)
		}
		if r.Batch.Licences = ""; Serves(&q.Snap, q.Spec, r) != (c.want == "") {
			t.Errorf("without licences it serves tasks that use %q", c.uses)
		}
	}
	q := openBag(4, 100)
	q.Spec.Bag.Uses, q.Snap.Queue.Words.Licences, q.Snap.Queue.Licences = "matlab=1", []string{"-L"}, []cluster.Licence{{Name: "matlab", Total: 6, Free: 5}}
	q.Spec.Request.BatchArgs = []string{"-Lmatlab:2"}
	if p, err := Decide(q); err != nil || p.Alloc.Nodes == 0 || p.Alloc.Batch.Licences != "" || strings.Contains(strings.Join(p.Reasons, " "), "licences requested") {
		t.Errorf("beside -L of the user's own: %+v, %q, %v", p.Alloc.Batch, p.Reasons, err)
	}
	q = openBag(4, 100)
	q.Spec.Bag.Uses, q.Snap.Queue.Licences = "matlab=7", []cluster.Licence{{Name: "matlab", Total: 6, Free: 5}}
	if _, err := Decide(q); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "a task uses matlab=7, and the cluster has 6 licences") {
		t.Errorf("a task that uses more than there are: %v", err)
	}
}

// Tasks that share a GPU are as many at once as their shares make whole ones, and requests ask for these.
func TestGPUShares(t *testing.T) {
	for share, tasks := range map[int]int{500: 8, 250: 16, 333: 12, 300: 12, 999: 4} {
		k := kindOf(job.Needs{CPUs: 1, GPUs: 1, GPUShare: share})
		k.tasks = 100
		m := taskMix{k}
		has := job.Resources{CPUs: 64, GPUs: 4}
		if got := m.slotsOn(has).onNodes(3); got != 3*tasks {
			t.Errorf("%d tasks of %d run at once on three nodes, want %d", got, share, 3*tasks)
		}
		if got := m.leastNode(); got != (job.Resources{CPUs: 1, GPUs: 1}) {
			t.Errorf("a node has at least %+v", got)
		}
	}
	q := openBag(4, 100)
	for i := range q.Snap.Nodes {
		n := &q.Snap.Nodes[i]
		n.Capacity.GPUs, n.Free.GPUs = 2, 2
	}
	q.Spec.Bag.Need.GPUs, q.Spec.Bag.Need.GPUShare = 1, 500
	p, err := Decide(q)
	if err != nil || len(p.Requests()) == 0 {
		t.Fatal(p.Reasons, err)
	}
	for _, r := range p.Requests() {
		if r.PerNode.GPUShare != 0 || r.PerNode.GPUs != (r.PerNode.CPUs+1)/2 {
			t.Errorf("a request asks for %+v", r.PerNode)
		}
	}
}
