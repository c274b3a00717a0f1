package engine

import (
	"slices"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/sched"
)

// schedule makes a pass over a pool: attempts that wait get leave, then the claims of
// all classes are tried in their order until none finds room. A class that found
// none in an earlier pass looks only at nodes with something freed since, so a pass
// costs what changed, however many nodes and jobs there are.
func (e *Engine) schedule(p *pool) {
	freed := p.freed
	p.freed = nil
	for _, n := range freed {
		n.dirty = false
		e.grant(n)
	}
	freed = e.turn(p, freed)
	for _, c := range p.classes {
		c.tried = false
	}
	var holder *class // the first for which no room was found
	var room int64    // bytes that shuffles are to leave to those
	for c := p.first(); c != nil; c = p.first() {
		if room < c.room {
			c.blocked = false
		}
		c.room = room
		if e.place(p, c, freed, holder != nil) {
			continue
		}
		c.tried, c.blocked = true, true
		if c.hopeless {
			continue // nothing need be kept for it
		}
		if mem := c.wantsRoom(); mem > 0 {
			e.unobstruct(p, c, mem)
			room = max(room, mem)
		}
		if holder == nil && e.holdable(p, c) {
			holder = c
			e.hold(p, c)
		}
	}
	if holder == nil {
		e.hold(p, nil)
	}
}

// first returns the class whose head goes first among those not tried in this pass.
func (p *pool) first() *class {
	var best *class
	for _, c := range p.classes {
		if !c.tried && (best == nil || c.line[0].claim().Before(best.line[0].claim())) {
			best = c
		}
	}
	return best
}

// grant gives leave to the attempts that wait on the node, as far as it has cores.
func (e *Engine) grant(n *node) {
	for n.state == up && n.Waiting > 0 {
		a := n.firstWaiter()
		if a.hopeless(e.now) {
			e.kill(a, tooLate)
			continue
		}
		if a.job.need(a.id.Task).CPUs > n.Free().CPUs {
			return
		}
		leave := sched.NextLeave(a.kind)
		e.emit(event.LeaveGranted{Attempt: a.id, Phase: leave})
		e.do(Leave{Attempt: a.id, Node: n.id, Phase: leave})
	}
}

func (n *node) firstWaiter() *attempt {
	waiter := func(a *attempt) sched.Waiter {
		return sched.Waiter{Place: sched.Place{Rank: a.since, Order: a.job.place.Order}, Task: a.id.Task}
	}
	var first *attempt
	for _, a := range n.live {
		if a.wants != job.PhaseNone && (first == nil || waiter(a).Before(waiter(first))) {
			first = a
		}
	}
	return first
}

// place starts the next task of the class, if a node has room for it. behind says
// that a claim before it found none and has a node kept for it.
func (e *Engine) place(p *pool, c *class, freed []*node, behind bool) bool {
	q, nodes := c.line[0], p.nodes
	if c.blocked {
		nodes = freed
	} else {
		c.hopeless = p.shape.elastic && !slices.ContainsFunc(nodes, func(n *node) bool { return n.couldTake(c, e.now) })
	}
	avoid := q.avoids()
	if avoid != 0 && !p.hasOther(avoid) {
		avoid = 0
	}
	var choice sched.Choice
	for _, n := range nodes {
		if n.state != up || !e.admits(c, n) || !n.inTime(e.now, c.key.span) || n.Health.Suspected(e.now) && p.hasTrusted(e.now) {
			continue
		}
		if behind && n == p.held && !p.spares(c) {
			continue
		}
		choice.Offer(&n.Node, n.Index == avoid)
	}
	best, avoided := choice.Best()
	if best == nil {
		return false
	}
	e.start(q, e.nodeList[best.Index], avoided)
	return true
}

// hasOther reports whether a node but that one is up.
func (p *pool) hasOther(index int) bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool { return n.state == up && n.Index != index })
}

// hasTrusted reports whether a node is up that is not suspected. Where there is none,
// suspicion is of no use.
func (p *pool) hasTrusted(now job.Time) bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool { return n.state == up && !n.Health.Suspected(now) })
}

// hold keeps a node for the head of the class, the first that found no room, so that
// smaller claims of later jobs do not take its place for ever. With nil none is kept.
func (e *Engine) hold(p *pool, c *class) {
	var j *jobState
	if c != nil && len(p.classes) > 1 {
		j = c.line[0].job
	} else {
		c = nil
	}
	if c == p.heldFor && j == p.heldJob && (p.held == nil || e.canHold(c, p.held)) {
		return
	}
	old := p.held
	p.heldFor, p.heldJob, p.held = c, j, nil
	if c != nil {
		var choice sched.Choice
		for _, n := range p.nodes {
			if e.canHold(c, n) {
				choice.Offer(&n.Node, n.Health.Suspected(e.now))
			}
		}
		if best, _ := choice.Best(); best != nil {
			p.held = e.nodeList[best.Index]
		}
	}
	if old != nil {
		e.freed(old) // others may look at it again
	}
}

// canHold reports whether a task of the class could run on the node once others ended.
func (e *Engine) canHold(c *class, n *node) bool {
	switch {
	case !n.couldTake(c, e.now):
		return false
	case c.key.kind == job.ReduceTask:
		return !n.Obstructed(c.key.need.Mem+c.room) && n.shufflingUpTo(c.line[0].job) < n.Capacity.CPUs
	}
	return !n.Obstructed(c.key.need.Mem)
}

// holdable reports whether a node is kept for the class if it is the first that finds no
// room. For reduces none is: their maps were there before other jobs' came. But in the
// order sched.Shortest the maps of a large job that was there first may have the memory.
func (e *Engine) holdable(p *pool, c *class) bool {
	return c.key.kind != job.ReduceTask ||
		c.wantsRoom() > 0 && slices.ContainsFunc(p.nodes, func(n *node) bool { return e.canHold(c, n) })
}

// couldTake reports whether a task of the class could run on the node if nothing else did.
func (n *node) couldTake(c *class, now job.Time) bool {
	return n.state == up && c.key.need.Fits(n.Capacity) && n.inTime(now, c.key.span)
}

// spares reports whether a task of the class may take room on the node that is kept:
// without delaying the one that it is kept for, once what ran there before that ended.
func (p *pool) spares(c *class) bool {
	sum := c.takes().Plus(p.heldFor.takes())
	for _, a := range p.held.live {
		if p.heldJob.place.Before(a.job.place) {
			sum = sum.Plus(sched.Holds(a.kind, a.leave, a.job.need(a.id.Task)))
		}
	}
	return sum.Fits(p.held.Capacity)
}
