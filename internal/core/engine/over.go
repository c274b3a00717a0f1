package engine

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// applyOver applies the end of an allocation to its jobs, and keeps the nodes whose map outputs
// stay for now. On one machine none stay.
func (e *Engine) applyOver(a *alloc, r event.AllocEnded) {
	if !r.Unwanted && a.begun && a.joined == 0 {
		a.pool.startUp.Guess(a.lasted(a.endedAt))
	}
	for _, j := range e.owners(a) {
		if !r.Unwanted && !j.state.Final() {
			j.countAlloc(a, a.endedAt, r)
		}
		if r.Unwanted && a.missed(a.endedAt) {
			j.misses++
		}
	}
	if a.pool.shape.Endless() {
		return
	}
	if r.Lost {
		e.applyLoss(a, r.Reason)
	}
	for _, n := range a.nodes() {
		if n.outputs != "" {
			a.keeps = append(a.keeps, n)
		}
	}
	e.over = append(e.over, a)
	e.dirtyOver = true
}

// applyCleared applies that nothing is left of an allocation.
func (e *Engine) applyCleared(r event.AllocCleared) {
	e.over = slices.DeleteFunc(e.over, func(a *alloc) bool {
		if a.id != r.Alloc {
			return false
		}
		for _, n := range a.keeps {
			n.outputs = ""
		}
		return true
	})
}

// clearOver clears the ended allocations whose remains nobody needs.
func (e *Engine) clearOver() {
	for _, a := range e.over {
		a.clearAt = 0
		switch at, ok := e.clearable(a); {
		case !ok:
		case e.now < at:
			a.clearAt = at
		default:
			a.clearing = true
			e.do(step.Clear{Alloc: a.id, On: a.req.On})
		}
	}
	e.stale = true
}

// clearable returns when an allocation may be cleared: at once, unless it has map outputs
// for a job that may be resumed, or for a job that may be unknown since the
// coordinator was restarted. Such outputs stay for the idle timeout, as they would on
// idle nodes. ok is false while a job needs them, and while the allocation is being cleared.
func (e *Engine) clearable(a *alloc) (at job.Time, ok bool) {
	if a.clearing {
		return 0, false
	}
	if len(a.keeps) == 0 {
		return a.endedAt, true
	}
	at = a.endedAt
	if a.endedAt <= e.recovered {
		at = e.recovered.Add(a.req.IdleTimeout)
	}
	for _, j := range e.line {
		switch {
		case !e.hasOutputsOn(j, func(n *node) bool { return n.alloc == a && n.outputs != "" }):
		case !j.state.Final():
			return 0, false
		default:
			at = max(at, j.ended.Add(a.req.IdleTimeout))
		}
	}
	return at, true
}

// cleared handles that nothing is left of an allocation. A job that was resumed
// meanwhile loses the outputs on it.
func (e *Engine) cleared(in step.Cleared) {
	for _, a := range e.over {
		if a.id == in.Alloc {
			e.emit(event.AllocCleared{Alloc: a.id})
			e.dropOutputs(func(h *node) bool { return h.alloc == a })
			return
		}
	}
}

// Kept returns the number of ended allocations whose remains are kept for jobs that
// run or may be resumed, so that their Clear was not emitted yet.
func (e *Engine) Kept() int {
	n := 0
	for _, a := range e.over {
		if !a.clearing {
			n++
		}
	}
	return n
}

// Uncleared returns the allocations that are over and not cleared, oldest first.
// Their remains may still be needed.
func (e *Engine) Uncleared() []job.AllocID {
	ids := make([]job.AllocID, len(e.over))
	for i, a := range e.over {
		ids[i] = a.id
	}
	return ids
}
