package sched

import (
	"math"

	"berth/internal/job"
)

// weight returns the job's weight among those that share a pool.
func (j *Job) weight() float64 {
	if j.Weight <= 0 {
		return 1
	}
	return j.Weight
}

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
	return job.Time(math.Min(dominant(j.Held, p.Unit)/j.weight()*1e6, farthest))
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
	return float64(len(p.Nodes)) * j.weight() / max(p.Weights, j.weight())
}

// alignment is the scalar product of what is taken and what is free, each by what the node has (Tetris, section 3.2).
func alignment(n *Node, takes job.Vector) float64 {
	free, has := n.Free(), n.Capacity
	return part(takes.CPU, has.CPU)*part(free.CPU, has.CPU) + part(takes.Memory, has.Memory)*part(free.Memory, has.Memory) +
		part(takes.Disk, has.Disk)*part(free.Disk, has.Disk) + part(takes.Net, has.Net)*part(free.Net, has.Net)
}

// tiny keeps a worth above 0 where nothing speaks for a start and nothing against it.
const tiny = 1e-9

// within reports whether the node has the share of each rate and of the cores that takes names: with 1 all of it.
// A demand above a whole node counts as the node, so a node without load takes anything.
func within(n *Node, takes job.Vector, share float64) bool {
	used, has := n.Capacity.Minus(n.Free()), n.Capacity
	return rateFits(takes.CPU, used.CPU, has.CPU, share) && rateFits(takes.Disk, used.Disk, has.Disk, share) &&
		rateFits(takes.Net, used.Net, has.Net, share)
}

// rateFits reports whether the share of a demand is there of a resource of which a node uses and has so much; has 0: nobody knows.
func rateFits(takes, used, has int64, share float64) bool {
	return takes <= 0 || has <= 0 || used <= 0 || float64(min(takes, has))*share <= float64(has-used)
}
