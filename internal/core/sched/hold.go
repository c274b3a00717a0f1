package sched

import (
	"slices"

	"berth/internal/core/job"
)

// holdNode reserves a node for the first candidate of the group, the first that found no room, so that smaller
// candidates of later jobs do not delay it forever; for a gang it reserves several. With nil no node is reserved.
func (p *Pool) holdNode(g *Group, now job.Time) {
	var j *Job
	if g != nil && len(p.Groups) > 1 {
		j = g.line[0].Job
	} else {
		g = nil
	}
	same := g == p.heldFor && j == p.heldJob
	if same && p.mayStay(g, now) {
		if len(p.held) > 0 && g.Kind == job.BagTask && p.heldFirst != g.line[0].first {
			p.heldFirst = g.line[0].first
			p.freeHeld() // other tasks delay the one that they are reserved for now, see spares
		}
		return
	}
	if !same {
		p.freeHeld()
	}
	before := p.held
	for _, s := range before {
		s.Node.kept = 0
	}
	p.heldFor, p.heldJob, p.held = g, j, nil
	if g == nil {
		return
	}
	p.heldFirst = g.line[0].first
	p.held = p.reserve(g, now)
	for _, s := range p.held {
		s.Node.kept = s.Ranks
	}
	for _, s := range before {
		if s.Node.kept != s.Ranks {
			p.Free(s.Node)
		}
	}
}

// freeHeld has the reserved nodes searched for others again.
func (p *Pool) freeHeld() {
	for _, s := range p.held {
		p.Free(s.Node)
	}
}

// mayStay reports whether the nodes stay that are reserved for the group. Those of a gang are chosen anew if it is not known when it could start
// on them, or if it should have started.
func (p *Pool) mayStay(g *Group, now job.Time) bool {
	if g != nil && g.Several() && (len(p.held) == 0 || p.heldStart == never || p.heldStart < now) {
		return false
	}
	return !slices.ContainsFunc(p.held, func(s Share) bool { return !p.keeps(g, s.Node, now) })
}

// reserve returns the nodes to reserve for the group.
func (p *Pool) reserve(g *Group, now job.Time) []Share {
	if g.Several() {
		return p.soonest(g, now)
	}
	choice := Choice{plain: g.Demand.GPU == 0}
	for _, n := range p.Nodes {
		if !p.strict && choice.offers >= weighed {
			break
		}
		if p.keeps(g, n, now) && !(g.Trusted && n.Health.Avoided(now)) {
			choice.Offer(n, n.Health.Suspected(now))
		}
	}
	if n, _ := choice.Best(); n != nil {
		return []Share{{n, 1}}
	}
	return nil
}

// canHold reports whether a task of the group could run on the node after others have ended, or a gang once it is back.
func (p *Pool) canHold(g *Group, n *Node, now job.Time) bool {
	switch {
	case !n.Up && !(n.Away && g.Several()), !n.holds(g, now), !g.starts(p, n, now):
		return false
	case g.Several():
		return !(g.Trusted && n.Health.Avoided(now)) && !(n.Health.Suspected(now) && p.trusts(now))
	case g.shuffles():
		return !n.Obstructed(n.within(g, g.Demand.Memory+g.room)) && n.shufflesUpTo(g.line[0].Job) < p.Shuffles(n)
	}
	return !n.Obstructed(n.within(g, g.Demand.Memory))
}

// keeps reports whether the node may be reserved for the group: one on which too few licences are free would be idle meanwhile.
func (p *Pool) keeps(g *Group, n *Node, now job.Time) bool {
	return n.Alloc.Has(g.Licensed, true) && p.canHold(g, n, now)
}

// holdable reports whether a node is reserved for the group if it is the first that finds no room. An urgent one
// takes no node from a job before its own. No node is reserved for
// reduces that start, as the maps that they wait for came before those of other jobs. But in the order Shortest the
// maps of a large earlier job may hold the memory.
func (p *Pool) holdable(g *Group, now job.Time) bool {
	if g.Urgent && slices.ContainsFunc(p.Groups, func(o *Group) bool { return o != g && p.inLine(o.line[0], g.line[0]) }) {
		return false
	}
	return !g.Urgent && !g.shuffles() && g.Licensed == "" ||
		(g.Urgent || g.Licensed != "" || p.wantsRoom(g) > 0) && slices.ContainsFunc(p.Nodes, func(n *Node) bool { return p.keeps(g, n, now) })
}

// couldRun reports whether a task of the group could run on the node if it were empty.
func (n *Node) couldRun(g *Group, now job.Time) bool {
	return n.Up && n.holds(g, now)
}

// holds reports whether the node is large enough for a task of the group and has enough time for it.
func (n *Node) holds(g *Group, now job.Time) bool {
	return fitsFree(g.Peak, n.Capacity) && n.suits(&g.Needs) && n.InTime(now, g.Span) && n.Alloc.Has(g.Licensed, false)
}

// keptFrom reports whether the reserved node is closed to the group: it is not reserved for this group, the group
// does not come before the one it is reserved for, and would delay it.
func (p *Pool) keptFrom(g *Group, n *Node, now job.Time) bool {
	return p.later(g) && !fitsFree(g.Demand, p.spared(g, n, now)) && !p.backfills(g, now)
}

// later reports whether the group comes after the one that nodes are reserved for.
func (p *Pool) later(g *Group) bool {
	// The line is empty if its candidate has started elsewhere in this pass.
	return g != p.heldFor && len(p.heldFor.line) > 0 && !p.before(g.line[0], p.heldFor.line[0])
}

// spared returns what others may take of a reserved node without delaying the candidate that it is
// reserved for, once the earlier attempts there have ended. Later tasks of the candidate's own job count as those of later jobs.
// Cores count in full: a reserved node of one core runs no second task that computes.
// If it is known when a gang is expected to start, all that has not ended by then counts. Of GPUs it is what tasks of the group can use; of shares one
// at a time, as what the next one leaves depends on the GPU that it gets.
func (p *Pool) spared(g *Group, n *Node, now job.Time) job.Vector {
	free, shared := n.Capacity, []int64(nil)
	if by := p.HeldUntil(); by >= now && by != 0 {
		free, shared = n.freeBy(by, now)
	} else {
		for _, a := range n.Running {
			if p.heldJob.Before(a.Job.Priority) || a.Job == p.heldJob && a.Kind == job.BagTask && p.laterTask(a) {
				free, shared = free.Minus(a.Holds), a.share(shared, +1)
			}
		}
	}
	next := Running{Holds: g.Demand, GPUs: n.Sharing(g.Demand, 1)}
	_, shared = sharing(next.share(shared, +1), p.heldFor.Demand, n.kept)
	switch free = free.Minus(p.heldFor.Demand.Times(n.kept)); {
	case next.GPUs == nil:
		return fitted(g.Demand, free, shared)
	case idle(free.GPU-g.Demand.GPU, shared) < 0:
		free.GPU = 0
	default:
		free.GPU = g.Demand.GPU
	}
	return free
}

// HeldUntil returns when the gang that nodes are reserved for is expected to start on them: if it has not, they are chosen anew. 0: unknown, or
// there is none.
func (p *Pool) HeldUntil() job.Time {
	if p.heldFor == nil || !p.heldFor.Several() || p.heldStart == never {
		return 0
	}
	return p.heldStart
}

// laterTask reports whether an attempt of the job that nodes are reserved for is one of a later task than the first in line: see Candidate.before.
func (p *Pool) laterTask(a *Running) bool {
	if its, mine := a.Of.Begin.together(), p.heldFor.together(); its != mine {
		return its < mine
	}
	return a.ID.Task > int(p.heldFor.line[0].first)
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
