package engine

import (
	"fmt"

	"berth/internal/core/job"
	"berth/internal/core/step"
)

// fromWorker handles a message of a node's worker about an attempt, if the attempt belongs to that node. Messages about
// an attempt that is over change nothing.
func (e *Engine) fromWorker(in step.FromWorker) error {
	id, ok := in.Subject()
	if !ok {
		return foreign(in.Node, fmt.Sprintf("a worker cannot send %T", in.Input))
	}
	n := e.ranOn(id)
	switch {
	case n == nil:
		return nil
	case n.id != in.Node && e.fromShare(id, in):
		return nil
	case n.id != in.Node:
		return foreign(in.Node, fmt.Sprintf("it reports on %s, which runs on %s", id, n.id))
	}
	return e.handle(in.Input)
}

func foreign(node job.NodeID, what string) error {
	return job.FatalError(string(node), what, nil)
}

// lostRun is an attempt that was given up as lost. Its worker may still report its end,
// or that it still runs.
type lostRun struct {
	n      int // number of the attempt
	node   *node
	shares []*share
}

// ranOn returns the node of an attempt that runs, or that was given up as lost while its
// task is not done; nil for any other.
func (e *Engine) ranOn(id job.Attempt) *node {
	if a := e.runningAttempt(id); a != nil {
		return a.node
	}
	if j := e.jobs[id.Job]; j != nil {
		for _, r := range j.lostRuns[int32(id.Task)] {
			if r.n == id.N {
				return r.node
			}
		}
	}
	return nil
}

// noteLost stores the node of an attempt that was given up as lost.
func (j *jobState) noteLost(a *attempt) {
	if j.lostRuns == nil {
		j.lostRuns = make(map[int32][]lostRun)
	}
	task := int32(a.ID.Task)
	j.lostRuns[task] = append(j.lostRuns[task], lostRun{a.ID.N, a.node, a.shares})
}
