package sched

import "berth/internal/core/job"

// Policy decides what starts next on the nodes of one pool. Each pool has a policy of its own, which may
// remember earlier calls, as its memory affects nothing but decisions.
//
// Select sees the whole pool instead of one node, as a policy may choose the node for a candidate
// or the candidate for a node.
type Policy interface {
	Counts
	// Moved notes that the position of a job was another before, and reports whether something may start
	// because of the change. Then Select is called.
	Moved(p *Pool, j *Job, was Priority) bool
	// Select returns what to do next. It is called again after that is done, until it returns no
	// candidate, and then again whenever something in the pool has changed.
	Select(p *Pool, now job.Time) Decision
}

// Counts says how a policy counts what jobs need and hold.
type Counts interface {
	// Demand returns the demand of each of the tasks of the job, by phase, as the policy counts it.
	Demand(j *Job, t *Tasks) Demand
	// Through returns the last phase that an attempt of the job may run through without asking again, once its
	// grant covers the given phase.
	Through(j *Job, t *Tasks, phase job.Phase) job.Phase
	// Paused returns the part of holds that an attempt keeps while it waits for a grant.
	Paused(holds job.Vector) job.Vector
	// Rank returns the rank of a job; the lowest rank is first in every line. It depends only on the state of the
	// job and on the pool's scale and unit, so that a replay gives the same lines.
	Rank(p *Pool, j *Job) job.Time
	// SortMemory returns the bytes that the candidate may use for sorting and merging when it starts on the node; 0: the
	// worker's default share.
	SortMemory(n *Node, c *Candidate) int64
}

// Decision is what a policy wants to be done next.
type Decision struct {
	Candidate *Candidate // what starts, or needs the room of the attempts in End; nil: nothing is to be done
	Node      *Node      // where it starts; nil: it waits
	Task      int        // the task of Candidate.Ready that starts
	End       []*Running // attempts to end, to make room for the candidate
}

// Rules distinguish one scheduler from the others. The Selector is common to all of them. It
// ensures that memory and GPUs are never overcommitted and that no candidate waits forever.
type Rules interface {
	Counts
	// Shuffles returns the maximum number of reduces that may shuffle on the node at once.
	Shuffles(n *Node) int
	// Fits reports whether the node has room for the candidate, memory not considered.
	Fits(n *Node, c *Candidate) bool
	// Onward returns the attempt that gets the next grant among those that wait on the node, nil if none fits.
	Onward(p *Pool, n *Node) *Candidate
	// Reach returns how many of the candidates that have room, from the first in line, are compared with
	// each other. With 1 the first in line starts, on the least loaded node.
	Reach(p *Pool) int
	// Worth returns the utility of starting the candidate on the node; it does not start if that is not
	// positive. before is the number of candidates before it in line that have room, too.
	Worth(p *Pool, n *Node, c *Candidate, before int) float64
}
