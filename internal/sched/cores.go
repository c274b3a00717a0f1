package sched

import "berth/internal/job"

// cores are the rules of the scheduler Cores: a task holds its whole cores and its memory from its beginning to its
// end, but that a reduce which shuffles holds no core; so however many reduces wait for maps, maps can
// run. The first in line starts, on the node that is least loaded. The other schedulers' rules begin with
// these and change what they do otherwise.
type cores struct {
	shortest bool    // jobs come in the order Shortest, else in that of Place.Order
	ageing   float64 // share of the pool's cores that jobs age by
}

func (cores) demand(j *Job, kind job.TaskKind) (d Demand) {
	need := j.Need[KindIndex(kind)].Vector()
	for _, p := range kind.Phases() {
		d[p] = need
	}
	d[job.PhaseShuffle].CPU = 0
	return d
}

// through lets a reduce ask when it has fetched its input, as it has no core until then, and
// everything else run to its end.
func (cores) through(_ *Job, kind job.TaskKind, phase job.Phase) job.Phase {
	if phase == job.PhaseShuffle {
		return phase
	}
	return kind.Last()
}

func (cores) paused(holds job.Vector) job.Vector { return holds }

// rank is what is left to do of the job in the order Shortest, with ageing; 0 in the order FIFO.
func (r cores) rank(p *Pool, j *Job) job.Time {
	if !r.shortest {
		return 0
	}
	return Rank(j.Released, Ageing(p.Scale, r.ageing), j.Left[:]...)
}

func (cores) shuffles(n *Node) int { return n.cores() }

// fits reports whether the node has the cores. While an attempt there waits for cores, none are given away under
// its nose.
func (cores) fits(n *Node, c *Candidate) bool {
	return c.shuffles() || len(n.waiting.line) == 0 && c.Takes.CPU <= n.Free().CPU
}

// onward returns the first in line of the attempts that wait on the node, if it can go on.
func (cores) onward(n *Node, _ job.Time) *Candidate {
	c := n.waiting.line[0]
	more, free := c.Takes.Minus(c.Running.Holds), n.Free()
	if more.CPU <= max(0, free.CPU) && more.Memory <= max(0, free.Memory) {
		return c
	}
	return nil
}

// sortMemory says nothing: the worker shares its memory to sort in out over its cores.
func (cores) sortMemory(*Node, *Candidate) int64 { return 0 }

func (cores) reach(*Pool) int { return 1 }

func (cores) worth(*Pool, *Node, *Candidate, int) float64 { return 1 }
