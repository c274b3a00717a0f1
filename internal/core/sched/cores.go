package sched

import "berth/internal/core/job"

// CoreRules are the rules of the scheduler Cores, and what the rules of other schedulers embed. A task holds its whole
// cores and its memory from start to end, except that a reduce holds no core while it shuffles; so maps can run however
// many reduces wait for them. The first in line starts on the least loaded node.
type CoreRules struct {
	shortest bool    // jobs are in the order Shortest, else in the order of Priority.Order
	ageing   float64 // share of the pool's cores by which jobs age
	alpha    float64 // see Scheduler.Alpha
}

func (CoreRules) Demand(t *Tasks) (d Demand) {
	need := t.Need.Vector()
	for _, p := range t.Kind().Phases() {
		d[p] = need
	}
	d[job.PhaseShuffle].CPU = 0
	return d
}

// Through makes a reduce ask again when it has fetched its input, as it holds no core until then. Other
// attempts run to their end.
func (CoreRules) Through(t *Tasks, phase job.Phase) job.Phase {
	if phase == job.PhaseShuffle {
		return phase
	}
	return t.Kind().Last()
}

func (CoreRules) Paused(holds job.Vector) job.Vector { return holds }

// Rank is the remaining work of the job for its weight, with ageing, in the order Shortest, and 0 in the order FIFO.
func (r CoreRules) Rank(p *Pool, j *Job) job.Time {
	if !r.shortest {
		return 0
	}
	return Rank(j.Released, float64(Ageing(p.Scale, r.ageing)*j.Weight), j.Work())
}

func (CoreRules) Shuffles(n *Node) int { return n.Cores() }

// Fits reports whether the node has the cores. While an attempt on the node waits for cores, no task that needs
// cores starts there.
func (CoreRules) Fits(n *Node, c *Candidate) bool {
	return c.shuffles() || len(n.waiting.line) == 0 && c.Demand.CPU <= n.Free().CPU
}

// Onward returns the first in line of the attempts that wait on the node, or nil if it does not fit.
func (CoreRules) Onward(_ *Pool, n *Node) *Candidate {
	c := n.waiting.line[0]
	more, free := c.Demand.Minus(c.Running.Holds), n.Free()
	if more.CPU <= max(0, free.CPU) && more.Memory <= max(0, free.Memory) {
		return c
	}
	return nil
}

// SortMemory returns 0: the worker divides its sort memory by its cores.
func (CoreRules) SortMemory(*Node, *Candidate) int64 { return 0 }

func (CoreRules) Reach(*Pool) int { return 1 }

func (CoreRules) Worth(*Pool, *Node, *Candidate, int) float64 { return 1 }
