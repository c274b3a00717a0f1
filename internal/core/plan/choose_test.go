package plan

import (
	"reflect"
	"testing"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// TestFewest: of the candidates that are as good as the best, one whose wall time suffices goes before one that needs
// another allocation after it; then the least price, the fewest nodes and the fewest cores win.
func TestFewest(t *testing.T) {
	a := &adaptor{spent: maxPlaced} // no candidate is evaluated again
	whole, half := &offer{perNode: job.Resources{CPUs: 4}}, &offer{perNode: job.Resources{CPUs: 2}}
	dear := &offer{perNode: job.Resources{CPUs: 4}, price: 3}
	for _, tt := range []struct {
		name       string
		candidates []Candidate
		want       int
	}{
		{"the best", []Candidate{{offer: whole, PerNode: whole.perNode, Take: 1, Total: 150}, {offer: whole, PerNode: whole.perNode, Take: 9, Total: 100}}, 1},
		{"fewer nodes", []Candidate{{offer: whole, PerNode: whole.perNode, Take: 9, Total: 100}, {offer: whole, PerNode: whole.perNode, Take: 4, Total: 100.9}}, 1},
		{"too late", []Candidate{{offer: whole, PerNode: whole.perNode, Take: 9, Total: 100}, {offer: whole, PerNode: whole.perNode, Take: 4, Total: 101.1}}, 0},
		{"a long wait", []Candidate{{offer: whole, PerNode: whole.perNode, Take: 9, Wait: 900, Total: 1000}, {offer: whole, PerNode: whole.perNode, Take: 4, Wait: 900, Total: 1002}}, 0},
		{"fewer cores", []Candidate{{offer: whole, PerNode: whole.perNode, Take: 4, Total: 100}, {offer: half, PerNode: half.perNode, Take: 4, Total: 100.5}}, 1},
		{"cheaper", []Candidate{{offer: dear, PerNode: dear.perNode, Take: 1, Total: 100}, {offer: whole, PerNode: whole.perNode, Take: 9, Total: 100.5}}, 1},
		{"cannot be had", []Candidate{{offer: whole, PerNode: whole.perNode, Take: 5, Total: 100}, {offer: whole, PerNode: whole.perNode, Take: 1, Total: 100, rejected: "refused"}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := a.fewest(tt.candidates); got != tt.candidates[tt.want] {
				t.Errorf("chose %+v", got)
			}
		})
	}
}

// TestSizes: workers have a whole node, half of it and so on, with the share of memory of the node that has least, or
// what their tasks need.
func TestSizes(t *testing.T) {
	nodes := func(caps ...job.Resources) (out []*cluster.Node) {
		for _, c := range caps {
			out = append(out, &cluster.Node{Capacity: c})
		}
		return out
	}
	const gib = 1 << 30
	for _, tt := range []struct {
		name  string
		need  job.Resources
		tasks int
		whole bool
		nodes []*cluster.Node
		want  []job.Resources
	}{
		{"halves", job.Resources{CPUs: 1}, 100, false, nodes(job.Resources{CPUs: 4, Mem: 16 * gib}),
			[]job.Resources{{CPUs: 4, Mem: 16 * gib}, {CPUs: 2, Mem: 8 * gib}, {CPUs: 1, Mem: 4 * gib}}},
		{"at most four, the ends among them", job.Resources{CPUs: 1}, 1000, false, nodes(job.Resources{CPUs: 128, Mem: 128 * gib}),
			[]job.Resources{{CPUs: 128, Mem: 128 * gib}, {CPUs: 32, Mem: 32 * gib}, {CPUs: 8, Mem: 8 * gib}, {CPUs: 1, Mem: gib}}},
		{"whole tasks", job.Resources{CPUs: 3}, 100, false, nodes(job.Resources{CPUs: 16, Mem: 16 * gib}),
			[]job.Resources{{CPUs: 15, Mem: 15 * gib}, {CPUs: 6, Mem: 6 * gib}, {CPUs: 3, Mem: 3 * gib}}},
		{"no more than all tasks use", job.Resources{CPUs: 1}, 2, false, nodes(job.Resources{CPUs: 16, Mem: 16 * gib}),
			[]job.Resources{{CPUs: 2, Mem: 2 * gib}, {CPUs: 1, Mem: gib}}},
		{"what the tasks need", job.Resources{CPUs: 1, Mem: 5 * gib}, 100, false, nodes(job.Resources{CPUs: 4, Mem: 16 * gib}),
			[]job.Resources{{CPUs: 4, Mem: 16 * gib}, {CPUs: 2, Mem: 10 * gib}, {CPUs: 1, Mem: 5 * gib}}},
		{"unequal nodes", job.Resources{CPUs: 1}, 100, false, nodes(job.Resources{CPUs: 4, Mem: 16 * gib}, job.Resources{CPUs: 2, Mem: 4 * gib}),
			[]job.Resources{{CPUs: 4, Mem: 16 * gib}, {CPUs: 2, Mem: 4 * gib}, {CPUs: 1, Mem: 2 * gib}}},
		{"whole nodes", job.Resources{CPUs: 1}, 100, true, nodes(job.Resources{CPUs: 4, Mem: 16 * gib}, job.Resources{CPUs: 8, Mem: 4 * gib}, job.Resources{CPUs: 4, Mem: 16 * gib}),
			[]job.Resources{{CPUs: 8, Mem: 4 * gib}, {CPUs: 4, Mem: 16 * gib}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := &job.Spec{Kind: job.Bag, Bag: &job.BagSpec{Need: tt.need}, Request: job.Request{Exclusive: tt.whole}}
			a := newAdaptor(&Question{Spec: spec, Snap: cluster.Snapshot{Queue: &cluster.Queue{}}, Counts: Counts{Tasks: tt.tasks}})
			a.setLoad(0)
			if got := a.sizes(&cluster.Partition{}, tt.nodes); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v,\nwant %v", got, tt.want)
			}
		})
	}
}
