package sched

import (
	"time"

	"berth/internal/job"
)

// phases are the rules of the scheduler Phases. As in PRISM (paper phase-level-scheduling, Algorithm 1) each phase
// asks for what it takes and gives back what the next one does not, and U = U_fairness + α·U_perf says what starts.
// What differs:
//
//   - A phase starts where a part of what it takes of each rate is there: whole phases leave a part of a node
//     unused, and a phase that has a part of what it could use brings more than none. Memory is never overcommitted.
//   - Jobs come by what is left of them, with ageing (Rank), or in the order in which they came; fairness counts beside that.
//   - A phase that takes no more than the one before, or lasts so short that asking would cost more, does not ask.
//   - What an attempt needs that waits between two phases is not given to tasks that begin.
type phases struct {
	cores
	alpha                                     float64
	fairness, order, align, urgency, critical float64 // weights of the terms …
	speed, chain                              float64 // … and of speed, for any phase and for the last chains
}

// DefaultAlpha is the weight of performance beside fairness.
const DefaultAlpha = 1

// Term is a term of the worth of a start to the scheduler Phases, or of the order of attempts that wait.
type Term string

// The terms.
const (
	FairnessTerm Term = "fairness" // by how much a start makes up for the deficit of its job
	OrderTerm    Term = "order"    // the shortest remaining work first
	AlignTerm    Term = "align"    // what a start takes is what its node has free
	CriticalTerm Term = "critical" // near the end, tasks with others behind them begin in time
	SpeedTerm    Term = "speed"    // what computes, where cores are fast
	UrgencyTerm  Term = "urgency"  // the longest waiting attempt goes on first
)

func newPhases(base cores, t Tuning) phases {
	r := phases{cores: base, alpha: t.Alpha, fairness: 1, order: 1, align: 1, urgency: 1, critical: 5, speed: 1, chain: 10}
	if r.alpha == 0 {
		r.alpha = DefaultAlpha
	}
	switch t.Without {
	case FairnessTerm:
		r.fairness = 0
	case OrderTerm:
		r.order = 0
	case AlignTerm:
		r.align = 0
	case CriticalTerm:
		r.critical = 0
	case SpeedTerm:
		r.speed, r.chain = 0, 0
	case UrgencyTerm:
		r.urgency = 0
	}
	return r
}

// mostTasks is how many attempts a node has at most for each of its cores, whatever was measured of them.
const mostTasks = 3

// filled says how far nodes are filled: all cores and a third of the rates that a phase takes must be there, where a quarter more than there is may be in
// use. Whole phases would leave a part of a node unused, and few take at each moment what they take at most.
var filled = fill{share: 0.3, over: 1.25, cpu: 1}

// short is how long a phase must last at full speed for its leave to be worth asking for.
const short = 200 * time.Millisecond

func (phases) demand(j *Job, kind job.TaskKind) Demand { return j.measured(kind) }

// through has an attempt run on where the next phase takes about what it has, or lasts shortly.
func (phases) through(j *Job, kind job.TaskKind, phase job.Phase) job.Phase {
	d := &j.Demand[KindIndex(kind)]
	if phase == job.PhaseShuffle {
		return phase
	}
	for next := phase + 1; next <= kind.Last(); next++ {
		if long := j.Known.lasts(next) >= short; long && !alike(d[phase], d[next]) {
			return next - 1
		}
	}
	return kind.Last()
}

// alike reports whether the one demand is about the other: no more than a quarter more or less of any rate. Memory counts only
// where the second takes more.
func alike(a, b job.Vector) bool {
	near := func(x, y int64) bool { return 4*max(x, y) <= 5*min(x, y) || max(x, y) == 0 }
	return near(a.CPU, b.CPU) && near(a.Disk, b.Disk) && near(a.Net, b.Net) && b.Memory <= a.Memory
}

func (phases) paused(holds job.Vector) job.Vector { return job.Vector{Memory: holds.Memory} }

// sortMemory shares the memory to sort in out among as many such tasks as would find room on the node now. So few
// tasks have much, and need not write what they sort and read it again. A reduce takes memory to sort in when it has
// fetched all, so none is kept from maps for one that shuffles.
func (phases) sortMemory(n *Node, c *Candidate) int64 {
	if c.Running == nil && c.shuffles() {
		return 0
	}
	left := n.SortMemory - n.sorting
	least := n.SortMemory / int64(max(1, leastSort*n.cores()))
	return max(least, left/max(1, n.fitting(c.Takes)))
}

// leastSort is the fewest that the memory of a node to sort in is shared out among, for each core.
const leastSort = 4

// computing returns how many attempts there do more than shuffle: those leave their cores to others.
func (n *Node) computing() int { return len(n.Running) - n.Shuffles }

// fitting returns how many tasks that take so much the node has room for, by cores and rates. No rate keeps a core idle.
func (n *Node) fitting(takes job.Vector) int64 {
	free := n.Free()
	count := int64(n.cores())
	idle := int64(n.cores() - n.computing())
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

// fits reports whether the node has enough for the candidate beside what attempts that wait there will take. No rate keeps a
// core idle: what a task writes into the page cache is no measure of what the disk has to do.
func (phases) fits(n *Node, c *Candidate) bool {
	spare := c.Takes.CPU <= n.Free().CPU
	switch {
	case len(n.waiting.line) > 0 && !n.sparesWaiting(c.Takes):
		return false
	case spare && n.computing() < n.cores():
		return true
	case c.Kind == job.BagTask && !spare: // the cores of a bag task are promised
		return false
	}
	return len(n.Running) < mostTasks*n.cores() && filled.admits(n, c.Takes)
}

// sparesWaiting reports whether what a task that begins takes leaves to the attempts which wait on the node what they take.
func (n *Node) sparesWaiting(takes job.Vector) bool {
	left := n.Free().Minus(takes)
	for _, c := range n.waiting.line {
		left = left.Minus(c.more())
	}
	return (takes.CPU <= 0 || left.CPU >= 0) &&
		(takes.Disk <= 0 || n.Capacity.Disk <= 0 || left.Disk >= 0) && (takes.Net <= 0 || n.Capacity.Net <= 0 || left.Net >= 0)
}

// more returns what an attempt that waits takes beyond what it goes on holding.
func (c *Candidate) more() job.Vector {
	return c.Takes.Minus(c.Running.Holds.Minus(c.Running.lent)).Max(job.Vector{})
}

func (r phases) onward(n *Node, now job.Time) *Candidate {
	if r.urgency == 0 {
		return r.cores.onward(n, now)
	}
	return longestWaiting(n, filled)
}

// longestWaiting returns the attempt on the node that has waited longest of those that can go on. One that lacks something
// keeps others from taking it, so none waits for ever.
func longestWaiting(n *Node, f fill) *Candidate {
	var lacks job.Vector // what those that have waited longer lack
	for _, c := range n.bySince() {
		more := c.more()
		free := n.Free()
		blocked := lacks.CPU > 0 && more.CPU > 0 || lacks.Memory > 0 && more.Memory > 0 || lacks.Disk > 0 && more.Disk > 0 || lacks.Net > 0 && more.Net > 0
		if !blocked && more.Memory <= max(0, free.Memory) && f.admits(n, more) {
			return c
		}
		lacks = lacks.Max(more.Minus(free))
	}
	return nil
}

// reach is 1 in the order FIFO: who came first starts first.
func (r phases) reach(*Pool) int {
	if !r.shortest {
		return 1
	}
	return 16
}

// critical is the square of how long a map and a reduce of the job take, one after the other, as a part of the time that all that is
// left to begin in the pool would take on all of its cores, at most 1. Near the end of a batch it is not what is left of a job that counts,
// but that its last tasks do not begin when all others are done.
func critical(p *Pool, j *Job) float64 {
	chain := 0.0
	for i := range j.Left {
		if j.Left[i].Tasks > 0 {
			chain += j.Left[i].mean()
		}
	}
	all := float64(p.work) / float64(max(1, p.Cores))
	if chain >= all {
		return 1
	}
	return chain / all * chain / all
}

// worth is U of the paper, eq. 1: α·U_perf weighs the place of the job in line, and how well what the phase takes
// fits what the node has free, so that phases of different kinds run beside each other. Where cores are slow a phase that computes is
// worth less, and most so one of the last chains; it begins there when nothing else does.
func (r phases) worth(p *Pool, n *Node, c *Candidate, before int) float64 {
	last := critical(p, c.Job)
	perf := r.order/float64(1+before) + r.align*alignment(n, c.Takes) + r.critical*last
	if slow := 1 - p.Speeds.Of(n.Kind); slow > 0 {
		perf = max(0, perf-slow*min(1, part(c.Takes.CPU, job.MilliCore))*(r.speed+r.chain*last))
	}
	return tiny + r.fairness*fairGain(p, c.Job, c.Takes) + r.alpha*perf
}
