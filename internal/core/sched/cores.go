package sched

import "berth/internal/core/job"

// cores are the rules of the scheduler Cores. A task holds its whole cores and its memory from start to end,
// except that a reduce holds no core while it shuffles; so maps can run however many reduces wait for them.
// The first in line starts on the least loaded node. The rules of the other schedulers embed
// these and override some of them.
type cores struct {
	shortest bool    // jobs are in the order Shortest, else in the order of Priority.Order
	ageing   float64 // share of the pool's cores by which jobs age
}

func (cores) demand(j *Job, kind job.TaskKind) (d Demand) {
	need := j.Need[KindIndex(kind)].Vector()
	for _, p := range kind.Phases() {
		d[p] = need
	}
	d[job.PhaseShuffle].CPU = 0
	return d
}

// through makes a reduce ask again when it has fetched its input, as it holds no core until then. Other
// attempts run to their end.
func (cores) through(_ *Job, kind job.TaskKind, phase job.Phase) job.Phase {
	if phase == job.PhaseShuffle {
		return phase
	}
	return kind.Last()
}

func (cores) paused(holds job.Vector) job.Vector { return holds }

// rank is the remaining work of the job, with ageing, in the order Shortest, and 0 in the order FIFO.
func (r cores) rank(p *Pool, j *Job) job.Time {
	if !r.shortest {
		return 0
	}
	return Rank(j.Released, Ageing(p.Scale, r.ageing), j.Left[:]...)
}

func (cores) shuffles(n *Node) int { return n.cores() }

// fits reports whether the node has the cores. While an attempt on the node waits for cores, no task that needs
// cores starts there.
func (cores) fits(n *Node, c *Candidate) bool {
	return c.shuffles() || len(n.waiting.line) == 0 && c.Demand.CPU <= n.Free().CPU
}

// onward returns the first in line of the attempts that wait on the node, or nil if it does not fit.
func (cores) onward(n *Node, _ job.Time) *Candidate {
	c := n.waiting.line[0]
	more, free := c.Demand.Minus(c.Running.Holds), n.Free()
	if more.CPU <= max(0, free.CPU) && more.Memory <= max(0, free.Memory) {
		return c
	}
	return nil
}

// sortMemory returns 0: the worker divides its sort memory by its cores.
func (cores) sortMemory(*Node, *Candidate) int64 { return 0 }

func (cores) reach(*Pool) int { return 1 }

func (cores) worth(*Pool, *Node, *Candidate, int) float64 { return 1 }
