package schedulers

import (
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// containers are the rules of Hadoop YARN with its capacity scheduler, the second baseline of the paper
// phase-level-scheduling. A task holds a container of whole cores and memory from start to end, as large
// as its largest phase needs. Jobs run first in, first out. The laboratory takes
// the cores and memory of Application Masters off its nodes (evaluate.PhaseStudy).
type containers struct{ sched.CoreRules }

// containerStep is the unit of a container's memory, in bytes. (YARN's yarn.scheduler.minimum-allocation-mb
// is 1024, and sites with small tasks set half of it.)
const containerStep = 512 << 20

func (containers) Demand(t *sched.Tasks) sched.Demand {
	d := t.Measured()
	most := d.Most(job.PhaseNone, job.NumPhases-1)
	size := job.Vector{CPU: max(1, (most.CPU+job.Milli/2)/job.Milli) * job.Milli, Memory: (most.Memory + containerStep - 1) / containerStep * containerStep, GPU: most.GPU}
	for _, p := range t.Kind().Phases() {
		d[p] = size
	}
	return d
}

func (containers) Rank(*sched.Pool, *sched.Job) job.Time { return 0 }

// Shuffles limits reduces that wait for maps to half of the cores (YARN's
// yarn.app.mapreduce.am.job.reduce.rampup.limit).
func (containers) Shuffles(n *sched.Node) int { return max(1, n.Cores()/2) }

func (containers) Fits(n *sched.Node, c *sched.Candidate) bool { return holdsCores(n, c) }

// holdsCores reports whether the node has the cores that the candidate holds from its start. If only reduces
// that shuffle hold them, a task starts all the same, as those reduces may wait for it.
func holdsCores(n *sched.Node, c *sched.Candidate) bool {
	return c.Demand.CPU <= n.Free().CPU || !slices.ContainsFunc(n.Running, func(a *sched.Running) bool { return !a.Shuffles() })
}

func (containers) Onward(_ *sched.Pool, n *sched.Node) *sched.Candidate { return n.AtOnce() }
