package engine

import (
	"slices"

	"berth/internal/job"
)

// Dismiss takes a job that is over out of memory and reports whether it did. It does not
// while the job is not over; nor, unless it must, while nodes hold map outputs from which
// the job could go on, or a node that ran attempts of it may come back and would then have
// to be told that the job is over.
//
// Nothing has happened to the job by this, so there is no record of it: afterwards the state
// is that of an engine which was never given the job's records. They may be given again, by
// Replay, before the job is resumed. What follows for allocations is settled by the next Step.
func (e *Engine) Dismiss(id job.ID, must bool) bool {
	j := e.jobs[id]
	if j == nil || !j.state.Final() || !must && e.remembered(j) {
		return false
	}
	delete(e.jobs, id)
	e.line = slices.DeleteFunc(e.line, func(k *jobState) bool { return j == k })
	e.dirtyOver = true // map outputs that were kept for it
	e.touchAllocs()
	e.dismissNodes()
	return true
}

// dismissNodes takes the nodes out of memory that no job in memory can have run on: their
// allocations ended before the first of the jobs was submitted. Their indices are not used
// again.
func (e *Engine) dismissNodes() {
	first := e.Oldest()
	for i, n := range e.nodeList {
		switch {
		case n == nil || n.state != gone || n.outputs != "" || len(n.Running) > 0:
		case n.alloc == nil && len(e.line) > 0: // known from a job that was replayed
		case n.alloc != nil && (!n.alloc.ended || len(e.line) > 0 && n.alloc.endedAt >= first):
		default:
			delete(e.nodes, n.id)
			e.nodeList[i] = nil
		}
	}
}

// Oldest returns when the first of the jobs in memory was submitted, 0 without any.
func (e *Engine) Oldest() job.Time {
	var first job.Time
	for i, j := range e.line { // a job that was replayed later stands behind younger ones
		if i == 0 || j.submitted < first {
			first = j.submitted
		}
	}
	return first
}

// remembered reports whether nodes have something of a job that is over, or may have.
func (e *Engine) remembered(j *jobState) bool {
	if j.resumable() && e.hasOutputsOn(j, (*node).has) {
		return true
	}
	away := false
	j.touched.All(func(i int) { away = away || e.nodeList[i].state == down })
	return away
}
