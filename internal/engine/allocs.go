package engine

import (
	"fmt"
	"slices"

	"berth/internal/event"
	"berth/internal/job"
)

// allocDown takes in that an allocation is over. Jobs that still want one get
// another, unless it cannot be had at all.
func (e *Engine) allocDown(in AllocDown) {
	a := e.allocs[in.Alloc]
	if a == nil {
		return
	}
	p := a.pool
	e.endAlloc(a, in.Reason, false)
	switch {
	case !in.Refuse:
	case a.req.Elastic:
		e.refused(a, in.Reason)
	case len(p.allocs) == 0:
		what := "allocation %s cannot be had: %s"
		if a.joined > 0 {
			what = "allocation %s is over: %s"
		}
		e.failAll(p, fmt.Sprintf(what, a.id, in.Reason))
	}
}

// endAlloc ends an allocation, and with it all that runs on its nodes.
func (e *Engine) endAlloc(a *alloc, reason string, unwanted bool) {
	nodes := a.nodes()
	e.emit(event.AllocEnded{Alloc: a.id, Reason: reason, Unwanted: unwanted})
	for _, n := range nodes {
		e.sweep(n, n.reason)
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

// failAll stops the jobs that wait for an allocation that is not to be had.
func (e *Engine) failAll(p *pool, reason string) {
	for _, j := range slices.Clone(p.active) {
		if j.active() {
			e.stop(j, event.StateFailed, job.CodeFailed, reason)
		}
	}
}

// settleAllocs asks for the allocations that are wanted and gives back those that are not.
func (e *Engine) settleAllocs() {
	for _, p := range slices.Clone(e.pools) {
		for _, a := range slices.Clone(p.allocs) {
			if a.deserted() {
				e.giveBack(a, "all its nodes are gone", false)
			}
		}
		if len(p.allocs) == 0 && p.wanting() && !p.shape.elastic {
			e.ask(p)
		}
		for _, j := range p.active {
			if j.unclaimed > 0 && j.active() {
				if at, ok := e.claimable(j); ok && e.now >= at {
					e.giveUpClaims(j)
				}
			}
		}
		if p.shape.elastic {
			e.settleElastic(p)
		}
	}
	for _, a := range slices.Clone(e.allocList) {
		if reason := e.useless(a); reason != "" {
			e.giveBack(a, reason, false)
		}
	}
	if e.dirtyOver {
		e.dirtyOver = false
		e.settleOver()
	}
}

// ask asks for an allocation for the pool's jobs.
func (e *Engine) ask(p *pool) {
	if p.barren >= e.cfg.MaxBarren {
		e.failAll(p, fmt.Sprintf("%d allocations in a row ended before any of their nodes came up", p.barren))
		return
	}
	first := p.active[slices.IndexFunc(p.active, (*jobState).active)]
	id := e.nextAlloc()
	e.emit(event.AllocRequested{Alloc: id, Request: first.work.Alloc})
	e.do(Request{Alloc: id, Request: first.work.Alloc})
}

func (e *Engine) nextAlloc() job.AllocID { return job.AllocID(fmt.Sprintf("a%d", e.lastAlloc+1)) }

func (e *Engine) giveBack(a *alloc, reason string, unwanted bool) {
	e.endAlloc(a, reason, unwanted)
	e.do(Release{Alloc: a.id, On: a.req.On, Reason: reason})
}

// idle reports whether nothing runs or could run in the allocation's pool.
func (a *alloc) idle() bool { return len(a.pool.active) == 0 }

// idleSince returns from when on the allocation counts as idle: its last job ended, or
// a node came or went after that. So what it holds of a job that is to be resumed is
// still there for a while after the coordinator was started again.
func (a *alloc) idleSince() job.Time {
	at := max(a.pool.idleSince, a.requested)
	if a.req.Elastic {
		at = max(at, a.began, a.used)
	}
	for _, n := range a.nodes() {
		at = max(at, n.since)
	}
	return at
}

// deserted reports whether the allocation had nodes and has none any more.
func (a *alloc) deserted() bool {
	ns := a.nodes()
	return len(ns) > 0 && !slices.ContainsFunc(ns, func(n *node) bool { return n.state != gone })
}

// useless says why the allocation is to be given back now, empty if it is not.
func (e *Engine) useless(a *alloc) string {
	switch {
	case a.req.Elastic || !a.idle():
		return ""
	case a.joined == 0:
		return "nothing is left to run on it"
	case e.now >= a.idleSince().Add(a.req.IdleTimeout):
		return fmt.Sprintf("idle for %v", a.req.IdleTimeout)
	case slices.ContainsFunc(e.allocList, func(b *alloc) bool { return b.joined == 0 && b.req.On == a.req.On && !b.idle() }):
		return "idle, and another may wait for its room"
	}
	return ""
}
