package sched

import "berth/internal/core/job"

// slots are the rules of Hadoop 1 with its fair scheduler, the first baseline of the paper
// phase-level-scheduling. Each node has a number of slots for maps and one for reduces, independent of the
// demand of tasks, and the job with the fewest tasks for its weight is next.
type slots struct{ cores }

// The slots of a node with 4 cores are 8 for maps and 6 for reduces in the paper (docs/models.md, Phase-level scheduling).
const (
	mapSlots    = 2.0 // for each core
	reduceSlots = 1.5 // for each core
)

// of returns the number of slots for tasks of that kind on the node.
func (slots) of(n *Node, kind job.TaskKind) int {
	per := mapSlots
	if kind == job.ReduceTask {
		per = reduceSlots
	}
	return max(1, int(per*float64(n.cores())))
}

// demand is memory only, as slots are counted.
func (slots) demand(j *Job, kind job.TaskKind) Demand {
	d := j.measured(kind)
	most := d.Most(job.PhaseNone, job.PhaseReduce)
	for p := range d {
		d[p] = job.Vector{Memory: most.Memory}
	}
	return d
}

// rank is the job's share of the slots in use. That is Hadoop's fair scheduler without its deficits, which only
// compensate rounding to whole slots.
func (slots) rank(_ *Pool, j *Job) job.Time {
	return job.Time(float64(j.Live) / j.Weight * 1e6)
}

func (s slots) shuffles(n *Node) int { return s.of(n, job.ReduceTask) }

func (s slots) fits(n *Node, c *Candidate) bool {
	used := 0
	for _, a := range n.Running {
		if KindIndex(a.Kind) == KindIndex(c.Kind) {
			used++
		}
	}
	return used < s.of(n, c.Kind)
}

// onward lets an attempt continue at once, as it has its slot.
func (slots) onward(n *Node, _ job.Time) *Candidate { return n.atOnce() }

// atOnce returns the first in line of the attempts that wait on the node, if there is memory for what its measured demand
// has grown since it started.
func (n *Node) atOnce() *Candidate {
	if c := n.waiting.line[0]; c.more().Memory <= max(0, n.Free().Memory) {
		return c
	}
	return nil
}
