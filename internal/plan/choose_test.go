package plan

import (
	"reflect"
	"testing"

	"berth/internal/cluster"
	"berth/internal/job"
	"berth/internal/predict"
)

// TestFewest: of the options that are as good as the best, one whose time does goes
// before one that needs another allocation after it; then the fewest nodes and the
// fewest cores win.
func TestFewest(t *testing.T) {
	a := &adaptor{spent: weighing} // nothing is weighed anew
	whole, half := &place{perNode: job.Resources{CPUs: 4}}, &place{perNode: job.Resources{CPUs: 2}}
	for _, tt := range []struct {
		name    string
		options []option
		want    int
	}{
		{"the best", []option{{place: whole, nodes: 1, mean: 150}, {place: whole, nodes: 9, mean: 100}}, 1},
		{"fewer nodes", []option{{place: whole, nodes: 9, mean: 100}, {place: whole, nodes: 4, mean: 100.9}}, 1},
		{"too late", []option{{place: whole, nodes: 9, mean: 100}, {place: whole, nodes: 4, mean: 101.1}}, 0},
		{"a long wait", []option{{place: whole, nodes: 9, start: 900, mean: 1000}, {place: whole, nodes: 4, start: 900, mean: 1002}}, 0},
		{"fewer cores", []option{{place: whole, nodes: 4, mean: 100}, {place: half, nodes: 4, mean: 100.5}}, 1},
		{"sure", []option{{place: whole, nodes: 1, mean: 100, risk: 1}, {place: whole, nodes: 4, mean: 100.5, risk: riskBy}}, 1},
		{"none is sure", []option{{place: whole, nodes: 5, mean: 100, risk: 1}, {place: whole, nodes: 4, mean: 100.5, risk: 1}}, 1},
		{"cannot be had", []option{{place: whole, nodes: 5, mean: 100}, {place: whole, nodes: 1, mean: 100, out: "refused"}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := a.fewest(tt.options); got != tt.options[tt.want] {
				t.Errorf("chose %+v", got)
			}
		})
	}
}

// TestSizes: workers of a node, of half of it and so on, with the memory that goes with
// their cores on the scantest node, or that their tasks need.
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
			a := newAdaptor(&Question{Spec: spec, Snap: cluster.Snapshot{Queue: &cluster.Queue{}}})
			a.load = predict.Load{Maps: tt.tasks}
			if got := a.sizes(&cluster.Partition{}, tt.nodes); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v,\nwant %v", got, tt.want)
			}
		})
	}
}
