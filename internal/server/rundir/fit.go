package rundir

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/driver"
)

// mostTime is the longest wall time that fit asks for.
const mostTime = 28 * 24 * time.Hour

// fit finds the largest request that the batch system accepts in the partition of a refused one, by asking it: first for the longest wall time,
// then for the largest part of a node for so long, then for the most of those. It returns false if not even the smallest request is accepted.
func fit(ctx context.Context, q *plan.Question, tester driver.Tester, x *refusal) bool {
	refused := &x.Refused
	i := slices.IndexFunc(q.Snap.Queue.Partitions, func(p cluster.Partition) bool { return p.Name == refused.Batch.Partition })
	if i < 0 {
		return false
	}
	grain := cmp.Or(q.Snap.Queue.Grain, time.Minute)
	r := *refused
	part := &q.Snap.Queue.Partitions[i]
	r.Nodes, r.Time = max(1, part.MinNodes, q.Spec.Request.MinNodes), max(grain, part.MinTime)
	if b := q.Spec.Bag; b != nil { // fewer nodes, with more of each, would not hold a gang
		r.Nodes = max(r.Nodes, min(refused.Nodes, b.Needs().NodesOf(refused.PerNode)))
	}
	least := max(1, min((part.MinCPUs+r.Nodes-1)/r.Nodes, refused.PerNode.CPUs))
	r.PerNode = coresOf(refused.PerNode, least)
	accepts := func() bool {
		_, err := tester.Test(ctx, r)
		return err == nil
	}
	if !accepts() {
		return false
	}
	largest(int(r.Time/grain), int(cmp.Or(refused.Time, mostTime)/grain), accepts, func(n int) { r.Time = time.Duration(n) * grain })
	largest(least, refused.PerNode.CPUs, accepts, func(n int) { r.PerNode = coresOf(refused.PerNode, n) })
	largest(r.Nodes, refused.Nodes, accepts, func(n int) { r.Nodes = n })
	x.Most = r
	return true
}

// coresOf returns that many cores of a node with their share of the rest.
func coresOf(node job.Resources, cores int) job.Resources {
	all := max(1, node.CPUs)
	node.CPUs, node.Mem, node.GPUs = cores, node.Mem/int64(all)*int64(cores), (node.GPUs*cores+all-1)/all
	return node
}

// largest sets the largest value up to high that is accepted. low is.
func largest(low, high int, accepts func() bool, set func(int)) {
	set(low + sort.Search(max(0, high-low), func(i int) bool {
		set(low + i + 1)
		return !accepts()
	}))
}
