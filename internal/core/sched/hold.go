package sched

import (
	"slices"

	"berth/internal/core/job"
)

// holdNode reserves a node for the first candidate of the group, the first that found no room, so that smaller
// candidates of later jobs do not delay it forever. With nil no node is reserved.
func (r *Selector) holdNode(p *Pool, g *Group, now job.Time) {
	var j *Job
	if g != nil && len(p.Groups) > 1 {
		j = g.line[0].Job
	} else {
		g = nil
	}
	if g == r.heldFor && j == r.heldJob && (r.held == nil || r.canHold(p, g, r.held, now)) {
		if r.held != nil && g.Kind == job.BagTask && r.heldFirst != g.line[0].first {
			r.heldFirst = g.line[0].first
			p.Free(r.held) // other tasks delay the one that it is reserved for now, see spares
		}
		return
	}
	if r.held != nil {
		p.Free(r.held) // the node is searched for others again
	}
	r.heldFor, r.heldJob, r.held = g, j, nil
	if g == nil {
		return
	}
	r.heldFirst = g.line[0].first
	choice := Choice{plain: g.Demand.GPU == 0}
	for _, n := range p.Nodes {
		if !r.strict && choice.offers >= weighed {
			break
		}
		if r.canHold(p, g, n, now) && !(g.Trusted && n.Health.Avoided(now)) {
			choice.Offer(n, n.Health.Suspected(now))
		}
	}
	r.held, _ = choice.Best()
}

// canHold reports whether a task of the group could run on the node after others have ended.
func (r *Selector) canHold(p *Pool, g *Group, n *Node, now job.Time) bool {
	switch {
	case !n.couldRun(g, now), !g.starts(p, n, now):
		return false
	case g.shuffles():
		return !n.Obstructed(n.within(g, g.Demand.Memory+g.room)) && n.shufflesUpTo(g.line[0].Job) < r.Shuffles(n)
	}
	return !n.Obstructed(n.within(g, g.Demand.Memory))
}

// holdable reports whether a node is reserved for the group if it is the first that finds no room. An urgent one
// takes no node from a job before its own. No node is reserved for
// reduces that start, as the maps that they wait for came before those of other jobs. But in the order Shortest the
// maps of a large earlier job may hold the memory.
func (r *Selector) holdable(p *Pool, g *Group, now job.Time) bool {
	if g.Urgent && slices.ContainsFunc(p.Groups, func(o *Group) bool { return o != g && p.inLine(o.line[0], g.line[0]) }) {
		return false
	}
	return !g.Urgent && !g.shuffles() ||
		(g.Urgent || r.wantsRoom(g) > 0) && slices.ContainsFunc(p.Nodes, func(n *Node) bool { return r.canHold(p, g, n, now) })
}

// couldRun reports whether a task of the group could run on the node if it were empty.
func (n *Node) couldRun(g *Group, now job.Time) bool {
	return n.Up && n.holds(g, now)
}

// holds reports whether the node is large enough for a task of the group and has enough time for it.
func (n *Node) holds(g *Group, now job.Time) bool {
	return fitsFree(g.Peak, n.Capacity) && n.suits(&g.Needs) && n.InTime(now, g.Span)
}

// keptFrom reports whether the reserved node is closed to the group: the node is not reserved for this group, the group
// does not come before the one it is reserved for, and would delay it.
func (r *Selector) keptFrom(p *Pool, g *Group) bool {
	// The line is empty if its candidate has started elsewhere in this pass.
	return len(r.heldFor.line) > 0 && !p.before(g.line[0], r.heldFor.line[0]) && !r.spares(g)
}

// spares reports whether a task of the group may start on the reserved node without delaying the candidate that it is
// reserved for, once the earlier attempts there have ended. Later tasks of the candidate's own job count as those of later jobs.
// Cores count in full: a reserved node of one core runs no second task that computes.
func (r *Selector) spares(g *Group) bool {
	sum := g.Demand.Plus(r.heldFor.Demand)
	for _, a := range r.held.Running {
		if r.heldJob.Before(a.Job.Priority) || a.Job == r.heldJob && a.Kind == job.BagTask && a.ID.Task > int(r.heldFor.line[0].first) {
			sum = sum.Plus(a.Holds)
		}
	}
	return fitsFree(sum, r.held.Capacity)
}

// LastStarts calls offer with each time after which a group that found no room can start on no node of an allocation any more. Then
// others may use the memory or the node that is reserved for it, and it may start again on a node where it has failed.
func (p *Pool) LastStarts(offer func(job.Time)) {
	for _, g := range p.Groups {
		if g.infeasible {
			continue
		}
		var last *Alloc
		for _, n := range p.Nodes {
			if (n.Up || n.Away) && n.Alloc != last && n.Alloc.Ends != 0 {
				last = n.Alloc
				offer(LastStart(n.Alloc.Ends, g.Span) + 1)
			}
		}
	}
}
