package rundir

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/driver"
)

// mostTime is the longest wall time that fit asks for.
const mostTime = 28 * 24 * time.Hour

// fit lowers what the partition of a refused request allows to what the batch system accepts there, by asking it: first for the longest wall time,
// then for the largest part of a node for so long, then for the most of those. It returns a note about it, and false if not even the smallest
// request is accepted.
func fit(ctx context.Context, q *plan.Question, tester driver.Tester, refused *job.AllocRequest, why error) (note string, ok bool) {
	queue := *q.Snap.Queue
	i := slices.IndexFunc(queue.Partitions, func(p cluster.Partition) bool { return p.Name == refused.Batch.Partition })
	if i < 0 {
		return "", false
	}
	queue.Partitions = slices.Clone(queue.Partitions)
	part, grain := &queue.Partitions[i], cmp.Or(queue.Grain, time.Minute)
	r := *refused
	r.Nodes, r.Time = max(1, part.MinNodes, q.Spec.Request.MinNodes), max(grain, part.MinTime)
	least := max(1, min((part.MinCPUs+r.Nodes-1)/r.Nodes, refused.PerNode.CPUs))
	r.PerNode = coresOf(refused.PerNode, least)
	accepts := func() bool {
		_, err := tester.Test(ctx, r)
		return err == nil
	}
	if !accepts() {
		return "", false
	}
	most(int(r.Time/grain), int(cmp.Or(refused.Time, mostTime)/grain), accepts, func(n int) { r.Time = time.Duration(n) * grain })
	most(least, refused.PerNode.CPUs, accepts, func(n int) { r.PerNode = coresOf(refused.PerNode, n) })
	most(r.Nodes, refused.Nodes, accepts, func(n int) { r.Nodes = n })
	part.MaxTime, part.MaxNodes = r.Time, r.Nodes
	part.MaxPerNode.CPUs, part.MaxPerNode.Mem = r.PerNode.CPUs, r.PerNode.Mem
	q.Snap.Queue, q.Checks = &queue, nil
	return fmt.Sprintf("%s refuses larger requests than %s × %s for %s in %s: %v", q.Snap.Driver, job.Count(r.Nodes, "node"), r.PerNode.Words(),
		job.FormatDuration(r.Time), part.Name, why), true
}

// coresOf returns that many cores of a node with their share of the rest.
func coresOf(node job.Resources, cores int) job.Resources {
	all := max(1, node.CPUs)
	node.CPUs, node.Mem, node.GPUs = cores, node.Mem/int64(all)*int64(cores), (node.GPUs*cores+all-1)/all
	return node
}

// most sets the largest value up to high that is accepted. low is.
func most(low, high int, accepts func() bool, set func(int)) {
	for low < high {
		mid := low + (high-low+1)/2
		if set(mid); accepts() {
			low = mid
		} else {
			high = mid - 1
		}
	}
	set(low)
}
