package sched

import (
	"slices"

	"berth/internal/core/job"
)

// holdNode reserves a node for the first candidate of the group, the first that found no room, so that smaller
// candidates of later jobs do not delay it forever. With nil no node is reserved.
func (p *Pool) holdNode(g *Group, now job.Time) {
	var j *Job
	if g != nil && len(p.Groups) > 1 {
		j = g.line[0].Job
	} else {
		g = nil
	}
	if g == p.heldFor && j == p.heldJob && (p.held == nil || p.canHold(g, p.held, now)) {
		if p.held != nil && g.Kind == job.BagTask && p.heldFirst != g.line[0].first {
			p.heldFirst = g.line[0].first
			p.Free(p.held) // other tasks delay the one that it is reserved for now, see spares
		}
		return
	}
	if p.held != nil {
		p.Free(p.held) // the node is searched for others again
	}
	p.heldFor, p.heldJob, p.held = g, j, nil
	if g == nil {
		return
	}
	p.heldFirst = g.line[0].first
	choice := Choice{plain: g.Demand.GPU == 0}
	for _, n := range p.Nodes {
		if !p.strict && choice.offers >= weighed {
			break
		}
		if p.canHold(g, n, now) && !(g.Trusted && n.Health.Avoided(now)) {
			choice.Offer(n, n.Health.Suspected(now))
		}
	}
	p.held, _ = choice.Best()
}

// canHold reports whether a task of the group could run on the node after others have ended.
func (p *Pool) canHold(g *Group, n *Node, now job.Time) bool {
	switch {
	case !n.couldRun(g, now), !g.starts(p, n, now):
		return false
	case g.shuffles():
		return !n.Obstructed(n.within(g, g.Demand.Memory+g.room)) && n.shufflesUpTo(g.line[0].Job) < p.Shuffles(n)
	}
	return !n.Obstructed(n.within(g, g.Demand.Memory))
}

// holdable reports whether a node is reserved for the group if it is the first that finds no room. An urgent one
// takes no node from a job before its own. No node is reserved for
// reduces that start, as the maps that they wait for came before those of other jobs. But in the order Shortest the
// maps of a large earlier job may hold the memory.
func (p *Pool) holdable(g *Group, now job.Time) bool {
	if g.Urgent && slices.ContainsFunc(p.Groups, func(o *Group) bool { return o != g && p.inLine(o.line[0], g.line[0]) }) {
		return false
	}
	return !g.Urgent && !g.shuffles() ||
		(g.Urgent || p.wantsRoom(g) > 0) && slices.ContainsFunc(p.Nodes, func(n *Node) bool { return p.canHold(g, n, now) })
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
func (p *Pool) keptFrom(g *Group) bool {
	// The line is empty if its candidate has started elsewhere in this pass.
	return len(p.heldFor.line) > 0 && !p.before(g.line[0], p.heldFor.line[0]) && !p.spares(g)
}

// spares reports whether a task of the group may start on the reserved node without delaying the candidate that it is
// reserved for, once the earlier attempts there have ended. Later tasks of the candidate's own job count as those of later jobs.
// Cores count in full: a reserved node of one core runs no second task that computes.
func (p *Pool) spares(g *Group) bool {
	sum := g.Demand.Plus(p.heldFor.Demand)
	for _, a := range p.held.Running {
		if p.heldJob.Before(a.Job.Priority) || a.Job == p.heldJob && a.Kind == job.BagTask && a.ID.Task > int(p.heldFor.line[0].first) {
			sum = sum.Plus(a.Holds)
		}
	}
	return fitsFree(sum, p.held.Capacity)
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
