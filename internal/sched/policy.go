package sched

import "berth/internal/job"

// Policy decides what starts next on the nodes of one pool. A pool has a policy of its own, which may
// remember what it saw in earlier calls, as nothing but decisions follows from that.
//
// Select is given all of the pool and not one node, as a policy may prefer a node for a candidate
// or a candidate for a node.
type Policy interface {
	// Demand returns what each task of the job of one kind takes of a node, phase by phase, as the policy counts it.
	Demand(j *Job, kind job.TaskKind) Demand
	// Through returns the last phase that an attempt of the job may run through without asking again, once it has
	// leave for the given one.
	Through(j *Job, kind job.TaskKind, phase job.Phase) job.Phase
	// Paused returns what an attempt that holds so much goes on holding while it waits for a grant.
	Paused(holds job.Vector) job.Vector
	// Rank returns the rank of a job: the lowest is first in every line. It is a function of the
	// state of the job and of the pool's scale and unit alone, so that a replay gives the same lines.
	Rank(p *Pool, j *Job) job.Time
	// SortMemory returns the bytes that the candidate, which is to start on the node, may sort and merge in; 0: the
	// worker's own share.
	SortMemory(n *Node, c *Candidate) int64
	// Moved takes in that the place of a job was another before, and reports whether something may
	// start because of it: then Select is called.
	Moved(p *Pool, j *Job, was Place) bool
	// Select returns what is to be done next. It is called again once that is done, until there is
	// nothing more; and then when something of the pool has changed.
	Select(p *Pool, now job.Time) Decision
}

// Decision is what a policy wants done next.
type Decision struct {
	Candidate *Candidate // what starts, or for which attempts end; nil: nothing is to be done
	Node      *Node      // where it starts; nil: it has to wait
	Task      int        // which of Candidate.Ready begins
	End       []*Running // attempts that are to be ended, to make room for the candidate
}

// rules are what sets one scheduler apart from the others. The Selector is the same for all of them, and
// sees to it that memory is never overcommitted and that nobody waits for ever.
type rules interface {
	// demand, through, paused and rank answer Policy's questions.
	demand(j *Job, kind job.TaskKind) Demand
	through(j *Job, kind job.TaskKind, phase job.Phase) job.Phase
	paused(holds job.Vector) job.Vector
	rank(p *Pool, j *Job) job.Time
	// shuffles returns how many reduces may shuffle on the node at once.
	shuffles(n *Node) int
	// fits reports whether the node has what the candidate takes, memory apart.
	fits(n *Node, c *Candidate) bool
	// onward returns the attempt among those that wait on the node which is to go on, nil if none can.
	onward(n *Node, now job.Time) *Candidate
	// sortMemory returns the bytes that the candidate may sort and merge in on the node; 0: the worker's own share.
	sortMemory(n *Node, c *Candidate) int64
	// reach returns how many of the candidates that have room, the first in line first, are weighed against
	// each other; 1: the first in line starts, on the node that is least loaded.
	reach(p *Pool) int
	// worth returns what the start of the candidate on the node is worth; it does not start where that is not
	// positive. before is how many candidates in line before it have room, too.
	worth(p *Pool, n *Node, c *Candidate, before int) float64
}

// Tuning changes what a start is worth to the scheduler Phases, for experiments. The zero value is berth's own choice.
type Tuning struct {
	Alpha   float64 // weight of performance beside fairness (paper phase-level-scheduling, eq. 1); 0: DefaultAlpha
	Without Term    // a term of the worth that is left out
}

// Policy returns the policy for a pool of allocations of a batch system or of one machine: the scheduler's, with jobs
// in that order where it has none of its own. ageing is the share of the pool's cores that jobs age by, see Ageing.
func (s Scheduler) Policy(order Order, batch bool, ageing float64, t Tuning) Policy {
	base := cores{shortest: order.On(batch) == Shortest, ageing: ageing}
	r := &Selector{shortest: base.shortest, strict: true, rules: base}
	switch s {
	case Slots:
		r.shortest, r.strict, r.rules = false, false, slots{base}
	case Containers:
		r.shortest, r.rules = false, containers{base}
	case Packing:
		r.shortest, r.strict, r.rules = false, false, packing{base}
	case Prism:
		r.shortest, r.strict, r.rules = false, false, prism{base}
	case Phases:
		r.strict, r.rules = !base.shortest, newPhases(base, t)
	}
	return r
}
