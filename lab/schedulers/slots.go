package schedulers

import (
	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// slots are the rules of Hadoop 1 with its fair scheduler, the first baseline of the paper
// phase-level-scheduling. Each node has a number of slots for maps and one for reduces, independent of the
// demand of tasks, and the job with the fewest tasks for its weight is next.
type slots struct{ sched.CoreRules }

// The slots of a node with 4 cores are 8 for maps and 6 for reduces in the paper (docs/models.md, Phase-level scheduling).
const (
	mapSlots    = 2.0 // for each core
	reduceSlots = 1.5 // for each core
)

// of returns the number of slots for tasks of that kind on the node.
func (slots) of(n *sched.Node, kind job.TaskKind) int {
	per := mapSlots
	if kind == job.ReduceTask {
		per = reduceSlots
	}
	return max(1, int(per*float64(n.Cores())))
}

// Demand is memory and GPUs only, as slots are counted.
func (slots) Demand(t *sched.Tasks) sched.Demand {
	d := t.Measured()
	most := d.Most(job.PhaseNone, job.NumPhases-1)
	for p := range d {
		d[p] = job.Vector{Memory: most.Memory, GPU: most.GPU}
	}
	return d
}

// Rank is the job's share of the slots in use. That is Hadoop's fair scheduler without its deficits, which only
// compensate rounding to whole slots.
func (slots) Rank(_ *sched.Pool, j *sched.Job) job.Time {
	return job.Time(float64(j.Live) / j.Weight * 1e6)
}

func (s slots) Shuffles(n *sched.Node) int { return s.of(n, job.ReduceTask) }

func (s slots) Fits(n *sched.Node, c *sched.Candidate) bool {
	used := 0
	for _, a := range n.Running {
		if sched.KindIndex(a.Kind) == sched.KindIndex(c.Kind) {
			used++
		}
	}
	return used < s.of(n, c.Kind)
}

// Onward lets an attempt continue at once, as it has its slot.
func (slots) Onward(_ *sched.Pool, n *sched.Node) *sched.Candidate { return n.AtOnce() }

// slotsLocal are slots with what delay scheduling aims at (Zaharia et al., EuroSys 2010): a job without data on the node lets others
// go first. Nothing waits: if no job has data there, the first in line starts. Without it a job that has lost a task is furthest below
// its share, gets the same slot again, and soon has no more data there.
type slotsLocal struct{ slots }

func (slotsLocal) Reach(p *sched.Pool) int { return len(p.Groups) }

func (slotsLocal) Worth(_ *sched.Pool, n *sched.Node, c *sched.Candidate, before int) float64 {
	worth := 1 / float64(2+before)
	if _, local := c.Ready.Local(n.Host); local {
		worth++
	}
	return worth
}
