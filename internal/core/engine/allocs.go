package engine

import (
	"fmt"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// maxMisses is how many allocations of a job in a row are given back because they did not
// begin in their free slots.
const maxMisses = 2

// allocDown handles the end of an allocation. Jobs that still need one get
// another, unless such an allocation is impossible.
func (e *Engine) allocDown(in step.AllocDown) {
	a := e.allocs[in.Alloc]
	if a == nil {
		return
	}
	e.endAlloc(a, event.AllocEnded{Reason: in.Reason, Lost: !in.Refuse && e.cutOff(a), How: in.How, Bad: in.Bad})
	if in.Refuse {
		e.refused(a, in.Reason)
	}
}

// refused fails the jobs for which an impossible allocation was requested, unless another
// allocation serves them.
func (e *Engine) refused(a *alloc, reason string) {
	what := "allocation %s was refused: %s"
	if a.joined > 0 {
		what = "allocation %s is over: %s"
	}
	for _, j := range e.owners(a) {
		if !j.hasReady() || !j.active() {
			continue
		}
		if e.isServed(j) {
			j.plan.none = explain.With("no further allocation is requested: allocation %s was refused: %s", a.id, reason)
		} else {
			e.stopJob(j, event.StateFailed, job.CodeFailed, fmt.Sprintf(what, a.id, reason))
		}
	}
}

// owners returns the jobs for which the allocation was requested: one, or on one machine all that
// share its allocation.
func (e *Engine) owners(a *alloc) []*jobState {
	if a.job == "" {
		return slices.Clone(a.pool.active)
	}
	if j := e.jobs[a.job]; j != nil {
		return []*jobState{j}
	}
	return nil
}

// endAlloc ends an allocation and all attempts on its nodes.
func (e *Engine) endAlloc(a *alloc, r event.AllocEnded) {
	nodes := a.nodes()
	r.Alloc = a.id
	e.emit(r)
	for _, n := range nodes {
		e.endNode(n, n.reason)
	}
}

// nodes returns the nodes of the allocation that have ever been up.
func (a *alloc) nodes() []*node {
	var ns []*node
	for _, n := range a.pool.nodes {
		if n.alloc == a {
			ns = append(ns, n)
		}
	}
	return ns
}

// updateAllocs requests the allocations that are needed, gives back those that are not, and plans jobs again that no allocation serves.
func (e *Engine) updateAllocs() {
	for _, p := range slices.Clone(e.pools) {
		for _, a := range slices.Clone(p.allocs) {
			if len(a.req.Remote.Hosts) == 0 && a.deserted() { // hosts are tried until they are back
				e.giveBack(a, event.AllocEnded{Reason: "all its nodes are gone", Lost: e.cutOff(a)})
			}
		}
		for _, j := range p.active {
			if j.unclaimed > 0 && j.active() {
				if at, ok := e.claimable(j); ok && e.now >= at {
					e.giveUpClaims(j)
				}
			}
		}
		e.updatePool(p)
	}
	e.planPools()
	if e.dirtyOver {
		e.dirtyOver = false
		e.clearOver()
	}
}

// planPools plans jobs again that no allocation serves. It waits while allocations change: what is given back for one that is requested may have
// had map outputs of a job of another pool, and a plan is to know of all tasks that are left.
func (e *Engine) planPools() {
	for _, p := range slices.Clone(e.pools) {
		if p.servesAll() {
			continue
		}
		for _, j := range slices.Clone(p.active) {
			if e.dirtyAllocs {
				return
			}
			e.planIfNeeded(j)
		}
	}
}

// updatePool requests the allocations of the pool's jobs, and gives back those that no job can use.
func (e *Engine) updatePool(p *pool) {
	e.retire(p)
	e.dropInfeasible(p)
	e.giveUpWaiting(p)
	if p.dirty {
		e.schedule(p) // what can start on the present nodes needs no further allocation
	}
	for _, j := range p.active { // the loop does not change p.active
		e.askOwn(j)
	}
	for _, a := range slices.Clone(p.allocs) {
		if reason, unwanted := e.whyGiveBack(a); reason != "" {
			e.giveBack(a, event.AllocEnded{Reason: reason, Unwanted: unwanted})
		}
	}
}

// askOwn requests the allocations of the job's first plan.
func (e *Engine) askOwn(j *jobState) {
	if j.asked > len(j.work.More) {
		return
	}
	if !j.hasReady() || !j.active() {
		return
	}
	for i := j.asked; i <= len(j.work.More); i++ {
		r := j.work.Alloc
		if i > 0 {
			r = j.work.More[i-1]
		}
		e.request(j.ID, r)
	}
}

// request requests an allocation for the job, or with an empty owner for all jobs of its shape.
func (e *Engine) request(owner job.ID, r job.AllocRequest) {
	id := job.AllocID(fmt.Sprintf("a%d", e.lastAlloc+1))
	if j := e.jobs[owner]; j != nil {
		r.Avoid = j.bad
	}
	e.emit(event.AllocRequested{Alloc: id, Request: r, Job: owner})
	e.do(step.Request{Alloc: id, Request: r})
}

func (e *Engine) giveBack(a *alloc, r event.AllocEnded) {
	e.endAlloc(a, r)
	e.do(step.Release{Alloc: a.id, On: a.req.On, Reason: r.Reason})
}

// idle reports whether no job runs or could run in the allocation's pool.
func (a *alloc) idle() bool { return len(a.pool.active) == 0 }

// idleSince returns when the idle time of the allocation began: at the end of its last job or attempt,
// or when a node came or went after that. So after a restart of the coordinator, the map outputs
// of a job that may be resumed stay for a while.
func (a *alloc) idleSince() job.Time {
	at := max(a.pool.idleSince, a.requested, a.began, a.used)
	for _, n := range a.nodes() {
		at = max(at, n.since)
	}
	return at
}

// deserted reports whether the allocation had nodes and has none now.
func (a *alloc) deserted() bool {
	ns := a.nodes()
	return len(ns) > 0 && !slices.ContainsFunc(ns, func(n *node) bool { return n.state != gone })
}

// allocUp handles that the batch system has started an allocation, or has changed the time
// of its end.
func (e *Engine) allocUp(in step.AllocUp) {
	if a := e.allocs[in.Alloc]; a != nil && (!a.begun || a.Ends != in.Ends) {
		a.note = "" // what it waited for
		e.emit(event.AllocBegan{Alloc: in.Alloc, Ends: in.Ends})
		for _, n := range a.nodes() {
			e.tellEnd(n)
		}
	}
}

func (e *Engine) allocNote(in step.AllocNote) {
	if a := e.allocs[in.Alloc]; a != nil {
		a.note, a.start = in.Note, in.Start
		if a.paused != in.Suspended {
			a.paused, a.resumed, e.stale = in.Suspended, e.now, true
			e.emit(event.AllocPaused{Alloc: in.Alloc, Paused: in.Suspended})
		}
	}
}

func (e *Engine) applyBegan(at job.Time, r event.AllocBegan) {
	a := e.allocs[r.Alloc]
	if a == nil {
		return
	}
	if !a.begun {
		e.allocStarted(a)
		a.begun, a.began = true, at
	}
	a.Ends = r.Ends
	a.pool.measureStartUp(a)
	e.resize(a.pool)
	e.changed(a.pool)
	e.touchAllocs()
}

// allocStarted applies that an allocation has begun.
func (e *Engine) allocStarted(a *alloc) {
	if j := e.jobs[a.job]; j != nil && !a.hasBegun() {
		a.mark, j.misses, j.begun = j.dones, 0, true
	}
}

// hasBegun reports whether the allocation has begun, according to its nodes or the batch system.
func (a *alloc) hasBegun() bool { return a.begun || a.joined > 0 }

// beganAt returns when it began, as far as known.
func (a *alloc) beganAt() job.Time {
	if a.begun {
		return a.began
	}
	return a.first
}
