package sched

import "berth/internal/core/job"

// Decision is what is to be done next.
type Decision struct {
	Candidate *Candidate // what starts, or needs the room of the attempts in End; nil: nothing is to be done
	Node      *Node      // where it starts; nil: it waits
	Gang      []Share    // of a task of several ranks: the nodes on which it starts, the first of them Node
	Task      int        // the task of Candidate.Ready that starts
	End       []*Running // attempts to end, to make room for the candidate
}

// Rules distinguish one scheduler from the others. What all have in common
// ensures that memory and GPUs are never overcommitted and that no candidate waits forever.
type Rules interface {
	// Demand returns the demand of each of the tasks, by phase, as the scheduler counts it.
	Demand(t *Tasks) Demand
	// Through returns the last phase that an attempt of one of the tasks may run through without asking again, once its
	// grant covers the given phase.
	Through(t *Tasks, phase job.Phase) job.Phase
	// Paused returns the part of holds that an attempt keeps while it waits for a grant.
	Paused(holds job.Vector) job.Vector
	// Rank returns the rank of a job; the lowest rank is first in every line. It depends only on the state of the
	// job and on the pool's scale and unit, so that a replay gives the same lines.
	Rank(p *Pool, j *Job) job.Time
	// SortMemory returns the bytes that the candidate may use for sorting and merging when it starts on the node; 0: the
	// worker's default share.
	SortMemory(n *Node, c *Candidate) int64
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
