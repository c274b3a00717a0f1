package engine

import (
	"slices"

	"berth/internal/core/job"
)

// Dismiss removes a job that is over from memory and reports whether it did. It does not
// while the job is not over. Unless must is set, it does not while nodes hold map outputs with
// which the job could be resumed either, nor while a node that ran attempts of it may come back and
// would have to be told that the job is over.
//
// Dismissing is no event of the job, so there is no record of it: afterwards the state
// is that of an engine that never received the job's records. Replay may receive them again
// before the job is resumed. The next Step handles the consequences for allocations.
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

// dismissNodes removes the nodes from memory that no job in memory can have run on: their
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

// Oldest returns when the first of the jobs in memory was submitted, 0 if there is none.
func (e *Engine) Oldest() job.Time {
	var first job.Time
	for i, j := range e.line { // a job that was replayed later follows younger ones
		if i == 0 || j.submitted < first {
			first = j.submitted
		}
	}
	return first
}

// remembered reports whether nodes hold something of a job that is over, or may do so.
func (e *Engine) remembered(j *jobState) bool {
	if j.resumable() && e.hasOutputsOn(j, (*node).hasOutputs) {
		return true
	}
	away := false
	j.touched.All(func(i int) { away = away || e.nodeList[i].state == down })
	return away
}
