package engine

import (
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// fitsTask reports whether one of the tasks could run on one of the allocation's nodes, or on several of them if they are gangs, with its licences.
func (a *alloc) fitsTask(t *byNeeds) bool {
	if !a.Has(t.Begin.Licensed, false) {
		return false
	}
	if t.Begin.Several() {
		return a.fitsGang(t)
	}
	return a.fitsNode(t.Need)
}

// fitsNode reports whether a node of the allocation has as much.
func (a *alloc) fitsNode(need job.Resources) bool {
	return slices.ContainsFunc(a.sizes, need.Fits) || a.joined < a.req.Nodes && need.Fits(a.req.PerNode)
}

// noteCapacity notes what a node of the allocation has.
func (a *alloc) noteCapacity(has job.Resources) {
	has.Disk, has.Net = 0, 0
	within := func(b, c job.Resources) bool { return b.Fits(c) && b.GPUType == c.GPUType }
	if !slices.ContainsFunc(a.sizes, func(b job.Resources) bool { return within(has, b) }) {
		a.sizes = append(slices.DeleteFunc(a.sizes, func(b job.Resources) bool { return within(b, has) }), has)
	}
}

// shrink notes what the nodes of the allocation have that are not gone. What it had stays noted if all are gone: the allocation is lost then, or its hosts are waited for.
func (a *alloc) shrink() {
	if a == nil || a.deserted() {
		return
	}
	a.sizes = nil
	for _, n := range a.nodes() {
		if n.state != gone {
			has := n.Capacity.Resources()
			has.GPUType = n.GPUType
			a.noteCapacity(has)
		}
	}
}

// prospect is what allocations offer waiting tasks.
type prospect struct {
	ok    bool     // a task could start, now or when the allocation has begun
	until job.Time // the last instant at which ok holds; 0: it holds forever
	first job.Time // the last instant at which all of the allocations have enough time for a task; 0: they have it forever
	short int      // allocations on which a task could start if there were more time; those after one that is good are not counted
}

// addOffer adds what an allocation of the pool offers the next of the tasks.
func (p *prospect) addOffer(a *alloc, in *pool, t *byNeeds, now job.Time) {
	span := t.span
	switch ends := a.Ends; {
	case a.Retired || !a.fitsTask(t):
	case !a.hasBegun() && a.req.Time != 0 && span+in.startUp.Of(a.req) > a.req.Time, a.hasBegun() && !sched.InTime(now, ends, span):
		p.short++
	case !a.hasBegun() || ends == 0:
		p.ok, p.until = true, 0
	case !p.ok || p.until != 0:
		last := sched.LastStart(ends, span)
		if p.ok, p.until = true, max(p.until, last); p.first == 0 || last < p.first {
			p.first = last
		}
	}
}

// good reports whether no better offer is possible.
func (p *prospect) good() bool { return p.ok && p.until == 0 }

// worse reports whether q is the better offer.
func (p prospect) worse(q prospect) bool {
	switch {
	case p.ok != q.ok:
		return q.ok
	case p.until == 0 || q.until == 0:
		return q.until == 0 && p.until != 0
	}
	return p.until < q.until
}

// served returns what the pool's allocations offer the next tasks of the job with the needs that they serve worst, and those tasks.
func (e *Engine) served(j *jobState) (worst prospect, of *byNeeds) {
	for t := range j.next {
		if pr := e.offered(j.pool, t); of == nil || pr.worse(worst) {
			worst, of = pr, t
		}
	}
	return worst, of
}

// isServed reports whether all tasks of the job that are ready can start on the pool's allocations.
func (e *Engine) isServed(j *jobState) bool {
	pr, _ := e.served(j)
	return pr.ok
}

// offered returns what the pool's allocations offer the next of the tasks.
func (e *Engine) offered(p *pool, t *byNeeds) (pr prospect) {
	for _, a := range p.allocs {
		if pr.addOffer(a, p, t, e.now); pr.good() {
			break
		}
	}
	return pr
}

// servesAll reports whether an allocation without an end offers every job of the pool all that it
// needs, so that no job must be examined. Jobs of such a pool without gangs need no more than Request.PerNode.
func (p *pool) servesAll() bool {
	return p.shape.Endless() && !p.Gangs && slices.ContainsFunc(p.allocs, func(a *alloc) bool {
		return !a.Retired && a.Ends == 0 && a.req.Time == 0 && a.fitsNode(a.req.PerNode)
	})
}

// offers returns what the allocation offers the waiting tasks of its pool.
func (e *Engine) offers(a *alloc) prospect {
	var pr prospect
	for _, j := range a.pool.active {
		for _, t := range j.of {
			if t.waits {
				pr.addOffer(a, a.pool, t, e.now)
			}
		}
		if pr.good() {
			break
		}
	}
	return pr
}

// whyGiveBack returns why an allocation is to be given back now, or empty if it is not, and
// whether the reason is that no job can use it.
func (e *Engine) whyGiveBack(a *alloc) (reason string, unwanted bool) {
	if a.hasBegun() && a.live > 0 {
		return "", false
	}
	pr := e.offers(a)
	switch {
	case a.missed(e.now) && e.givesBackMissed(a):
		return "it did not begin in its free slot of the queue", true
	case pr.ok:
	case a.Retired && a.req.Courteous:
		return "the job that requested it is done, and its nodes are left to other users", true
	case a.Retired:
		return "the job that requested it is done, and other jobs have allocations of their own", true
	case !a.hasBegun() && pr.short > 0:
		return "its wall time is too short for the remaining tasks", true
	case !a.hasBegun():
		return "no task is left to run on it", true
	case a.idle() && e.othersWait(a):
		return "idle, and another allocation may wait for its nodes", true
	case pr.short == 0 && e.now < a.idleSince().Add(a.req.IdleTimeout):
	case e.keepsOutputs(a):
	case pr.short > 0:
		return "the time left is too short for another task", false
	default:
		return "idle for " + job.FormatDuration(a.req.IdleTimeout), true
	}
	return "", false
}

// missed reports whether the allocation still waits after the latest start of its request.
func (a *alloc) missed(at job.Time) bool {
	return !a.hasBegun() && a.req.Latest != 0 && at > a.req.Latest
}

// givesBackMissed reports whether an allocation that has missed its free slot is given back, so that
// the remaining tasks are planned by the present queue. If that happens repeatedly the
// queue is unpredictable, and the next allocation waits like any other.
func (e *Engine) givesBackMissed(a *alloc) bool {
	j := e.jobs[a.job]
	return j == nil || j.misses < maxMisses
}

// othersWait reports whether an allocation on the same nodes that jobs of another pool need
// has yet to begin.
func (e *Engine) othersWait(a *alloc) bool {
	return slices.ContainsFunc(e.allocList, func(b *alloc) bool {
		return !b.hasBegun() && b.req.On == a.req.On && b.req.Batch.Cluster == a.req.Batch.Cluster && b.pool != a.pool && !b.idle()
	})
}

// keepsOutputs reports whether map outputs that jobs need would be lost with the allocation: those that are there, and those of maps that
// run there.
func (e *Engine) keepsOutputs(a *alloc) bool {
	keeps := func(n *node) bool { return n.alloc == a && n.outputs == "" && n.state != gone }
	return slices.ContainsFunc(a.pool.nodes, func(n *node) bool { return keeps(n) && n.makesOutputs() }) ||
		slices.ContainsFunc(e.line, func(j *jobState) bool { return !j.state.Final() && e.hasOutputsOn(j, keeps) })
}

// makesOutputs reports whether a map runs on the node whose output reduces need.
func (n *node) makesOutputs() bool {
	return slices.ContainsFunc(n.Running, func(r *sched.Running) bool { return r.Kind == job.MapTask && r.Job.Owner.(*jobState).shuffles() })
}

// hasOutputsOn reports whether a map output that the job needs is on one of the nodes.
func (e *Engine) hasOutputsOn(j *jobState, on func(*node) bool) bool {
	if j.tasks == nil || !j.needsOutputs() {
		return false
	}
	var seen sched.IndexSet
	for i := range j.work.Tasks {
		holder := int(j.holder[i])
		if j.tasks[i].status != done || holder == 0 || seen.Has(holder) {
			continue
		}
		seen.Add(holder)
		if on(e.nodeList[holder]) {
			return true
		}
	}
	return false
}

// poolDeadlines offers the times of a pool's timeouts.
func (e *Engine) poolDeadlines(p *pool, offer func(job.Time)) {
	later := func(t job.Time) {
		if t > e.now { // what was due has been done
			offer(t)
		}
	}
	p.LastStarts(later)
	if until := p.HeldUntil(); until != 0 {
		later(until + 1)
	}
	for _, a := range p.allocs {
		if !a.hasBegun() && a.req.Latest != 0 && e.givesBackMissed(a) {
			later(a.req.Latest + 1)
		}
		if !a.hasBegun() || a.live > 0 {
			continue
		}
		switch pr := e.offers(a); {
		case pr.ok && pr.until != 0:
			later(pr.until + 1)
		case !pr.ok && pr.short == 0:
			later(a.idleSince().Add(a.req.IdleTimeout))
		}
	}
	served := p.servesAll()
	for _, j := range p.active {
		if at := j.startBy(); at != 0 {
			later(at)
		}
		if !served {
			e.planDeadlines(j, later)
		}
		if j.unclaimed > 0 && j.active() {
			if at, ok := e.claimable(j); ok {
				later(at)
			}
		}
	}
	for _, n := range p.nodes {
		if n.Shuffles > 0 && n.alloc.Ends != 0 {
			for _, a := range n.Running {
				if a.Shuffles() {
					later(sched.LastStart(n.alloc.Ends, e.runningAttempt(a.ID).grantSpan()) + 1)
				}
			}
		}
	}
}
