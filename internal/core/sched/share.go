package sched

import (
	"berth/internal/core/job"
)

// dominant returns the largest share of a node's resources in v, memory included (dominant resource
// fairness, Ghodsi et al., NSDI 2011). Resources that the node lacks, or whose capacity is unknown, do not count.
func dominant(v, unit job.Vector) float64 {
	return max(part(v.CPU, unit.CPU), part(v.Memory, unit.Memory), part(v.Disk, unit.Disk), part(v.Net, unit.Net), part(v.GPU, unit.GPU))
}

func part(a, of int64) float64 {
	if of <= 0 {
		return 0
	}
	return float64(a) / float64(of)
}

// FairRank is the dominant share that the job holds, divided by its weight, in millionths of a node. The job with the
// highest deficit against its fair share is first.
func FairRank(p *Pool, j *Job) job.Time {
	return job.Time(min(dominant(j.Held, p.Unit)/j.Weight*1e6, farthest))
}

// FairGain is U_fairness of the paper phase-level-scheduling, eq. 2 (whose copy prints a product where it must be a
// difference): how much the unfairness to the job falls if it gets takes in addition to what it holds. Unfairness is
// its deficit against its fair share of the pool by dominant resource. The unit is nodes, from 0 to about 1.
func FairGain(p *Pool, j *Job, takes job.Vector) float64 {
	fair := p.fairShare(j)
	before := max(0, fair-dominant(j.Held, p.Unit))
	after := max(0, fair-dominant(j.Held.Plus(takes), p.Unit))
	return before - after
}

// fairShare is the job's share of the pool among the jobs that have something to start or run there, in nodes.
func (p *Pool) fairShare(j *Job) float64 {
	return float64(len(p.Nodes)) * j.Weight / max(p.Weights, j.Weight)
}

// Alignment is the scalar product of the demand and the free resources, each relative to the node's capacity (Tetris,
// section 3.2). A demand above the capacity counts as the capacity, and an overcommitted resource as not free.
func Alignment(n *Node, takes job.Vector) float64 {
	free, has := n.Free(), n.Capacity
	return aligned(takes.CPU, free.CPU, has.CPU) + aligned(takes.Memory, free.Memory, has.Memory) +
		aligned(takes.Disk, free.Disk, has.Disk) + aligned(takes.Net, free.Net, has.Net) + aligned(takes.GPU, free.GPU, has.GPU)
}

func aligned(takes, free, has int64) float64 {
	return float64(min(1, part(takes, has)) * max(0, part(free, has)))
}

// tiny keeps a utility above 0 if nothing speaks for or against a start.
const tiny = 1e-9

// fill is how full the cores and the rates of a node may get.
type fill struct {
	share float64 // part of a demand that must be free for a phase to start
	over  float64 // overcommitment: how much of a node's capacity may be in use, above 1 for more than all
	cpu   float64 // like share, for cores
}

// whole fills nodes as far as phases run at full speed.
var whole = fill{share: 1, over: 1, cpu: 1}

// admits reports whether the node has enough of the cores and the rates of takes. A demand
// above the capacity of a node counts as its capacity, so an empty node admits any demand.
func (f fill) admits(n *Node, takes job.Vector) bool {
	used, has := n.Capacity.Minus(n.Free()), n.Capacity
	cores := f
	cores.share = f.cpu
	return cores.enoughFree(takes.CPU, used.CPU, has.CPU) && f.enoughFree(takes.Disk, used.Disk, has.Disk) && f.enoughFree(takes.Net, used.Net, has.Net)
}

// enoughFree reports whether enough of a resource is free, given how much is demanded, used and available in all; has 0: unknown.
func (f fill) enoughFree(takes, used, has int64) bool {
	return takes <= 0 || has <= 0 || used <= 0 || float64(min(takes, has))*f.share <= f.over*float64(has)-float64(used)
}
