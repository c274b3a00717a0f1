package sched

import (
	"slices"

	"berth/internal/job"
)

// hold keeps a node for the first candidate of the class, the first that found no room, so that smaller
// ones of later jobs do not take its place for ever. With nil none is kept.
func (r *Selector) hold(p *Pool, c *Class, now job.Time) {
	var j *Job
	if c != nil && len(p.Classes) > 1 {
		j = c.line[0].Job
	} else {
		c = nil
	}
	if c == r.heldFor && j == r.heldJob && (r.held == nil || r.canHold(p, c, r.held, now)) {
		return
	}
	if r.held != nil {
		p.Free(r.held) // others may look at it again
	}
	r.heldFor, r.heldJob, r.held = c, j, nil
	if c == nil {
		return
	}
	var choice Choice
	for _, n := range p.Nodes {
		if !r.strict && choice.offers >= weighed {
			break
		}
		if r.canHold(p, c, n, now) && !(c.Trusted && n.Health.Avoided(now)) {
			choice.Offer(n, n.Health.Suspected(now))
		}
	}
	r.held, _ = choice.Best()
}

// canHold reports whether a task of the class could run on the node once others ended.
func (r *Selector) canHold(p *Pool, c *Class, n *Node, now job.Time) bool {
	switch {
	case !n.couldTake(c, now), c.Urgent && !c.mayUrge(p, n, now):
		return false
	case c.shuffles():
		return !n.Obstructed(n.within(c, c.Takes.Memory+c.room)) && n.shufflesUpTo(c.line[0].Job) < r.rules.shuffles(n)
	}
	return !n.Obstructed(n.within(c, c.Takes.Memory))
}

// holdable reports whether a node is kept for the class if it is the first that finds no room. For
// reduces that begin none is: the maps that they wait for were there before other jobs' came. But
// in the order Shortest the maps of a large job that was there first may have the memory.
func (r *Selector) holdable(p *Pool, c *Class, now job.Time) bool {
	return !c.shuffles() ||
		r.wantsRoom(c) > 0 && slices.ContainsFunc(p.Nodes, func(n *Node) bool { return r.canHold(p, c, n, now) })
}

// couldTake reports whether a task of the class could run on the node if nothing else did.
func (n *Node) couldTake(c *Class, now job.Time) bool {
	return n.Up && fits(c.Peak, n.Capacity) && n.InTime(now, c.Span)
}

// keptFrom reports whether the node that is kept is kept from the class: it is not the one that it is kept for, does not come
// before that, and would delay it.
func (r *Selector) keptFrom(c *Class) bool {
	return len(r.heldFor.line) > 0 && !c.line[0].before(r.heldFor.line[0]) && !r.spares(c) // it may have begun elsewhere in this pass
}

// spares reports whether a task of the class may take room on the node that is kept: without delaying
// the one that it is kept for, once what ran there before that ended. Cores count in full, so a node of one core that is kept for a task
// which computes takes nothing beside that does.
func (r *Selector) spares(c *Class) bool {
	sum := c.Takes.Plus(r.heldFor.Takes)
	for _, a := range r.held.Running {
		if r.heldJob.Before(a.Job.Place) {
			sum = sum.Plus(a.Holds)
		}
	}
	return fits(sum, r.held.Capacity)
}

// LastStarts offers the times after which a class that found no room, and for which memory is kept, can begin on no
// node of an allocation any more: then others may have that memory.
func (p *Pool) LastStarts(offer func(job.Time)) {
	for _, c := range p.Classes {
		if !c.blocked || c.infeasible || c.Takes.Memory == 0 {
			continue
		}
		var last *Alloc
		for _, n := range p.Nodes {
			if n.Up && n.Alloc != last && n.Alloc.Ends != 0 {
				last = n.Alloc
				offer(LastStart(n.Alloc.Ends, c.Span) + 1)
			}
		}
	}
}
