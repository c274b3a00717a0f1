package sched

import (
	"math"

	"berth/internal/job"
)

// dominant returns the largest share that v is of the resources of a node; memory counts as well
// (dominant resource fairness, Ghodsi et al., NSDI 2011). What the node does not have, or nobody knows, does not count.
func dominant(v, unit job.Vector) float64 {
	return max(part(v.CPU, unit.CPU), part(v.Memory, unit.Memory), part(v.Disk, unit.Disk), part(v.Net, unit.Net))
}

func part(a, of int64) float64 {
	if of <= 0 {
		return 0
	}
	return float64(a) / float64(of)
}

// fairRank is what the job holds of its dominant resource for its weight, in millionths of a node: the job with the highest
// deficit against its fair share is first.
func fairRank(p *Pool, j *Job) job.Time {
	return job.Time(math.Min(dominant(j.Held, p.Unit)/j.Weight*1e6, farthest))
}

// fairGain is U_fairness of the paper phase-level-scheduling, eq. 2, whose copy prints a product where it must be a difference:
// by how much the unfairness to the job falls when it is given takes beside what it holds, where unfairness is
// its deficit against its fair share of the pool by dominant resource. It is in nodes, from 0 to about 1.
func fairGain(p *Pool, j *Job, takes job.Vector) float64 {
	fair := p.fairShare(j)
	before := max(0, fair-dominant(j.Held, p.Unit))
	after := max(0, fair-dominant(j.Held.Plus(takes), p.Unit))
	return before - after
}

// fairShare is the share of the pool that is due to the job among those that have something to start or run there, in nodes.
func (p *Pool) fairShare(j *Job) float64 {
	return float64(len(p.Nodes)) * j.Weight / max(p.Weights, j.Weight)
}

// alignment is the scalar product of what is taken and what is free, each by what the node has (Tetris, section 3.2). More than the
// node has counts as the node, and what is overcommitted as nothing free.
func alignment(n *Node, takes job.Vector) float64 {
	free, has := n.Free(), n.Capacity
	return aligned(takes.CPU, free.CPU, has.CPU) + aligned(takes.Memory, free.Memory, has.Memory) +
		aligned(takes.Disk, free.Disk, has.Disk) + aligned(takes.Net, free.Net, has.Net)
}

func aligned(takes, free, has int64) float64 {
	return float64(min(1, part(takes, has)) * max(0, part(free, has)))
}

// tiny keeps a worth above 0 where nothing speaks for a start and nothing against it.
const tiny = 1e-9

// fill says how far the cores and the rates of a node are filled.
type fill struct {
	share float64 // part of a demand that must be there for a phase to start
	over  float64 // overcommitment: how many times what a node has may be in use
	cpu   float64 // share, for cores
}

// whole fills nodes as far as phases run at full speed.
var whole = fill{share: 1, over: 1, cpu: 1}

// admits reports whether the node has enough of the cores and the rates that takes names.
// A demand above a whole node counts as the node, so a node without load takes anything.
func (f fill) admits(n *Node, takes job.Vector) bool {
	used, has := n.Capacity.Minus(n.Free()), n.Capacity
	cores := f
	cores.share = f.cpu
	return cores.rate(takes.CPU, used.CPU, has.CPU) && f.rate(takes.Disk, used.Disk, has.Disk) && f.rate(takes.Net, used.Net, has.Net)
}

// rate reports whether enough is there of a resource of which a node uses and has so much; has 0: nobody knows.
func (f fill) rate(takes, used, has int64) bool {
	return takes <= 0 || has <= 0 || used <= 0 || float64(min(takes, has))*f.share <= f.over*float64(has)-float64(used)
}
