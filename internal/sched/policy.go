package sched

import "berth/internal/job"

// Policy decides what starts next on the nodes of one pool. A pool has a policy of its own, which may
// remember what it saw in earlier calls, as nothing but decisions follows from that.
//
// Select is given all of the pool and not one node, as a policy may prefer a node for a candidate
// (InOrder spreads tasks over nodes) or a candidate for a node. One of the latter kind takes the nodes
// of Pool.Freed one by one, and for each the candidates that go on there and the heads of classes.
type Policy interface {
	// Through returns the last phase that an attempt may run through without asking again, once it has
	// leave for the given one.
	Through(kind job.TaskKind, phase job.Phase) job.Phase
	// Rank returns the rank of a job: the lowest is first in every line. It is a function of the
	// state of the job and of the pool's scale alone, so that a replay gives the same lines.
	Rank(p *Pool, j *Job) job.Time
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

// Policy returns the policy for jobs in that order, in a pool of allocations of a batch system or of one
// machine. ageing is the share of the pool's cores that jobs age by, see Ageing.
func (o Order) Policy(batch bool, ageing float64) Policy {
	return &InOrder{shortest: o.On(batch) == Shortest, ageing: ageing}
}
