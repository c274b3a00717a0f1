package sched

import (
	"time"

	"berth/internal/core/job"
)

// phases are the rules of the scheduler Phases. As in PRISM (paper phase-level-scheduling, Algorithm 1) each phase
// requests its demand and frees what the next phase does not need, and the utility U = U_fairness + α·U_perf decides what
// starts. The differences:
//
//   - A phase starts if a part of its demand of each rate is free. Waiting for the whole demand would leave a part of each
//     node unused, and a phase that runs more slowly is better than none. Memory is never overcommitted.
//   - Jobs are ordered by their remaining work, with ageing (Rank), or by submission; fairness is a further term.
//   - An attempt does not ask before a phase that needs no more than the one before, or that is so short that asking costs more.
//   - Resources that an attempt needs which waits between two phases are not given to tasks that start.
type phases struct{ CoreRules }

// The weights of the terms of the utility of a start that count more than the others.
const (
	criticalWeight = 5  // near the end, tasks that others depend on start in time
	chainWeight    = 10 // phases of the last chains that compute start where cores are fast
)

// mostTasks is the maximum number of attempts of a node for each of its cores.
const mostTasks = 3

// filled says how full nodes may get: a start needs all of its cores and 30 % of its rates free, and at most 125 % of a
// node's rates may be in use. With whole demands a part of each node would stay unused, as few phases use their maximum
// at any moment.
var filled = fill{share: 0.3, over: 1.25, cpu: 1}

// short is the duration at full speed below which a phase does not need a grant of its own.
const short = 200 * time.Millisecond

func (phases) Demand(t *Tasks) Demand { return t.Measured() }

// Through lets an attempt continue through phases that need about what it has, or that are short.
func (phases) Through(t *Tasks, phase job.Phase) job.Phase {
	d, kind := &t.Demand, t.Kind()
	if phase == job.PhaseShuffle {
		return phase
	}
	for next := phase + 1; next <= kind.Last(); next++ {
		if long := t.Begin.Job.Known.lasts(next) >= short; long && !alike(d[phase], d[next]) {
			return next - 1
		}
	}
	return kind.Last()
}

// alike reports whether two demands differ by at most a quarter in each rate. Memory counts only if the second
// demand has more.
func alike(a, b job.Vector) bool {
	near := func(x, y int64) bool { return 4*max(x, y) <= 5*min(x, y) || max(x, y) == 0 }
	return near(a.CPU, b.CPU) && near(a.Disk, b.Disk) && near(a.Net, b.Net) && b.Memory <= a.Memory
}

func (phases) Paused(holds job.Vector) job.Vector {
	return job.Vector{Memory: holds.Memory, GPU: holds.GPU}
}

// SortMemory divides the free sort memory by the number of such tasks that the node has room for now. So when tasks are
// few, each has much, and need not write to disk what it sorts. A reduce gets its sort memory after the shuffle, so
// that reduces that shuffle take none from maps.
func (phases) SortMemory(n *Node, c *Candidate) int64 {
	if c.Running == nil && c.shuffles() {
		return 0
	}
	left := n.SortMemory - n.sorting
	least := n.SortMemory / int64(max(1, leastSort*n.Cores()))
	return max(least, left/max(1, n.fitting(c.Demand)))
}

// leastSort is the maximum number of tasks, for each core, among which a node's sort memory is divided.
const leastSort = 4

// computing returns the number of attempts on the node that do more than shuffle, and so use their cores.
func (n *Node) computing() int { return n.begun() - n.Shuffles }

// begun returns the number of attempts on the node that are not behind another one, and not idle.
func (n *Node) begun() int { return len(n.Running) - n.behind - n.idle }

// fitting returns the number of tasks of that demand that the node has room for, by cores and rates. Rates never leave
// a core idle.
func (n *Node) fitting(takes job.Vector) int64 {
	free := n.Free()
	count := int64(n.Cores())
	idle := int64(n.Cores() - n.computing())
	if takes.CPU > 0 {
		idle = min(idle, free.CPU/takes.CPU)
	}
	for _, r := range [...][2]int64{{takes.CPU, free.CPU}, {takes.Disk, free.Disk}, {takes.Net, free.Net}} {
		if r[0] > 0 && r[1] > 0 {
			count = min(count, (r[1]+r[0]/2)/r[0])
		}
	}
	return max(count, idle)
}

// Fits reports whether the node has enough for the candidate and for the attempts that wait there. Rates never leave a core
// idle, as data that a task writes into the page cache is no measure of the load of the disk.
func (phases) Fits(n *Node, c *Candidate) bool {
	spare := c.Demand.CPU <= n.Free().CPU
	switch {
	case len(n.waiting.line) > 0 && !n.sparesWaiting(c.Demand):
		return false
	case spare && n.computing() < n.Cores():
		return true
	case c.Kind == job.BagTask && !spare: // a bag task must have the cores that it requested
		return false
	}
	return n.begun() < mostTasks*n.Cores() && filled.admits(n, c.Demand)
}

// sparesWaiting reports whether a task with the demand takes leaves enough for the attempts that wait on the node.
func (n *Node) sparesWaiting(takes job.Vector) bool {
	left := n.Free().Minus(takes)
	for _, c := range n.waiting.line {
		left = left.Minus(c.more())
	}
	return (takes.CPU <= 0 || left.CPU >= 0) &&
		(takes.Disk <= 0 || n.Capacity.Disk <= 0 || left.Disk >= 0) && (takes.Net <= 0 || n.Capacity.Net <= 0 || left.Net >= 0)
}

// more returns what an attempt that waits needs in addition to what it holds.
func (c *Candidate) more() job.Vector {
	return c.Demand.Minus(c.Running.Holds.Minus(c.Running.lent)).Max(job.Vector{})
}

// AtOnce returns the first in line of the attempts that wait on the node, if there is memory for what its measured demand
// has grown since it started. It is Rules.Onward of schedulers that give a grant for all phases.
func (n *Node) AtOnce() *Candidate {
	if c := n.waiting.line[0]; c.more().Memory <= max(0, n.Free().Memory) {
		return c
	}
	return nil
}

// Onward returns the attempt on the node that has waited longest among those that fit. If one does not fit,
// later ones do not get the resources that it lacks, so none waits forever.
func (phases) Onward(_ *Pool, n *Node) *Candidate {
	var lacks job.Vector // lacked by those that have waited longer
	for _, c := range n.bySince() {
		more := c.more()
		free := n.Free()
		blocked := lacks.CPU > 0 && more.CPU > 0 || lacks.Memory > 0 && more.Memory > 0 || lacks.Disk > 0 && more.Disk > 0 || lacks.Net > 0 && more.Net > 0
		if !blocked && more.Memory <= max(0, free.Memory) && filled.admits(n, more) {
			return c
		}
		lacks = lacks.Max(more.Minus(free))
	}
	return nil
}

// Reach is 1 in the order FIFO: the first in line starts.
func (r phases) Reach(*Pool) int {
	if !r.shortest {
		return 1
	}
	return 16
}

// Critical returns the square of the ratio of two times, at most 1: how long one map and one reduce of the job take one
// after the other, or the longest task of a bag, and how long all remaining work of the pool would take on all of its cores. Near the end of a batch
// the remaining work of a job matters less than that its last tasks do not start after all others are done.
func Critical(p *Pool, j *Job) float64 {
	chain := 0.0
	for _, t := range j.By {
		switch {
		case t.Left.Tasks == 0:
		case t.Kind() == job.ReduceTask:
			chain += t.Left.mean()
		default:
			chain = max(chain, t.Left.mean())
		}
	}
	all := float64(p.work) / float64(max(1, p.Cores))
	if chain >= all {
		return 1
	}
	return chain / all * chain / all
}

// Worth returns U of the paper, eq. 1. α·U_perf combines the position of the job in line and how well the demand of the
// phase matches what the node has free, so that phases of different kinds run side by side. On slow cores a phase that
// computes is worth less, most of all one of the last chains; it starts there if nothing else does.
func (r phases) Worth(p *Pool, n *Node, c *Candidate, before int) float64 {
	last := Critical(p, c.Job)
	perf := 1/float64(1+before) + Alignment(n, c.Demand) + criticalWeight*last
	if slow := 1 - p.Speeds.Of(n.Kind); slow > 0 {
		perf = max(0, perf-slow*min(1, part(c.Demand.CPU, job.Milli))*(1+chainWeight*last))
	}
	return tiny + FairGain(p, c.Job, c.Demand) + r.alpha*perf
}
