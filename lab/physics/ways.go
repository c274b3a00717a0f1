package physics

import (
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// unlimited is how long the cluster of Own may be idle.
const unlimited = 10 * 365 * 24 * time.Hour

// sortPart is the divisor of a node's memory that gives the part for sorting.
const sortPart = 2

// Own gives the whole cluster to all jobs together, from the beginning to the end. Nothing is planned.
func Own(nodes int) sim.Adaptor {
	return sim.Adaptor{Way: sim.Naive, Shared: true, Change: func(e *workload.Elastic, p *plan.Plan) {
		of := p.Alloc.PerNode
		p.Alloc = job.AllocRequest{On: p.Alloc.On, Nodes: nodes, PerNode: of, IdleTimeout: unlimited, SortMemory: of.Mem / sortPart}
		p.TaskMean, p.ReduceMean = mean(e.Maps), mean(e.Reduces)
	}}
}

// Narrow makes as many requests as the way Naive asks for nodes, each for one node.
func Narrow() sim.Adaptor {
	return sim.Adaptor{Way: sim.Naive, Change: func(_ *workload.Elastic, p *plan.Plan) {
		nodes := p.Alloc.Nodes
		p.Alloc.Nodes, p.Alloc.Start = 1, 0
		p.More = slices.Repeat([]job.AllocRequest{p.Alloc}, nodes-1)
	}}
}

// mean returns the mean of durations, or 0 if there are none.
func mean(ds []time.Duration) time.Duration {
	sum := time.Duration(0)
	for _, d := range ds {
		sum += d
	}
	return sum / time.Duration(max(1, len(ds)))
}
