package sched

import (
	"iter"
	"slices"

	"berth/internal/core/job"
)

// pass is the present pass over a pool.
type pass struct {
	freed []*Node  // nodes that were freed since the last pass
	holds bool     // a group found no room, and a node is reserved for it if possible
	room  int64    // bytes that shuffling reduces must leave to groups that found no room
	soon  job.Time // when the gang that nodes are held for could start at the earliest; 0: not computed
	roomy []*Group // groups that have room, and are compared with each other
}

// SortMemory is that of the rules for maps and reduces.
func (p *Pool) SortMemory(n *Node, c *Candidate) int64 {
	if c.Kind == job.BagTask {
		return 0
	}
	return p.Rules.SortMemory(n, c)
}

// Rank returns the rank by the rules, and of a job with a deadline that deadline, before all others.
func (p *Pool) Rank(j *Job) job.Time {
	if j.Due != 0 {
		return hurried + j.Due
	}
	return p.Rules.Rank(p, j)
}

// moved reports whether the job has passed another in a way that something may start or must be ended. That holds
// if the job is the first of a group; or if it passed the first of a group and has shuffling reduces, which count
// against those of later jobs only; or if it passed the job that a node is reserved for and runs on that node.
func (p *Pool) moved(j *Job, was Priority) bool {
	passed := func(k *Job) bool { return j != k && k.Before(was) != k.Before(j.Priority) }
	if p.heldJob == j && slices.ContainsFunc(p.held, func(s Share) bool {
		return slices.ContainsFunc(s.Node.Running, func(a *Running) bool { return passed(a.Job) })
	}) {
		return true
	}
	for _, g := range p.Groups {
		first := g.line[0].Job
		if passed(first) || first == j && slices.ContainsFunc(p.shuffles, passed) {
			return true
		}
	}
	return false
}

// Decisions returns what to do next, one decision after the other until nothing can start. Each must be carried out before the next is made.
// They are asked for again whenever something in the pool has changed.
//
// By the rules of the scheduler the first in line starts, or the candidate with the highest utility among the first in line.
// Attempts that wait for a grant come before all candidates that start tasks, as nobody can use what they hold
// until they continue. Then the first candidates of all groups are tried in their order until none
// finds room. For the first that finds none a node is reserved (hold.go), and shuffling reduces are ended if
// they hold its memory (room.go). A group that found no room in an earlier pass searches only nodes that were freed since.
//
// That is Algorithm 1 of the paper phase-level-scheduling, with two differences: all changed nodes are
// searched together, so that a new candidate finds the best node; and memory that others need is reserved
// for them, so that no phase waits forever.
func (p *Pool) Decisions(now job.Time) iter.Seq[Decision] {
	return func(carryOut func(Decision) bool) {
		p.pass.freed = p.takeFreed(p.pass.freed)
		p.pass.holds, p.pass.room, p.pass.soon = false, 0, 0
		for _, n := range p.pass.freed {
			for c := p.onward(n); c != nil; c = p.onward(n) {
				if !carryOut(Decision{Candidate: c, Node: n}) {
					return
				}
			}
		}
		p.turn()
		for _, g := range p.Groups {
			g.tried, g.seen = false, false
		}
		for d := p.begin(now); d.Candidate != nil; d = p.begin(now) {
			if !carryOut(d) {
				return
			}
		}
		if !p.pass.holds || p.Scarce.shortage(p.heldFor) || slices.ContainsFunc(p.held, func(s Share) bool { return !s.Node.Alloc.Has(p.heldFor.Licensed, true) }) {
			p.holdNode(nil, now)
		}
	}
}

// onward returns the attempt that gets the next grant among those that wait on the node, nil if none fits. If no attempt of
// the node can free anything by ending, the longest waiting one continues whatever its demand.
func (p *Pool) onward(n *Node) *Candidate {
	if !n.Up || len(n.waiting.line) == 0 {
		return nil
	}
	c := p.Onward(p, n)
	if c == nil && n.stalled() {
		return n.bySince()[0]
	}
	return c
}

// begin returns the start with the highest utility among the first candidates in line that have room, as many as
// the rules consider; or the attempts to end for a candidate without room.
func (p *Pool) begin(now job.Time) (best Decision) {
	reach, worth := p.Reach(p), 0.0
	p.pass.roomy = p.pass.roomy[:0]
	for g := p.first(); g != nil && len(p.pass.roomy) < reach; g = p.first() {
		if best.Candidate != nil && g.line[0].priority.Level < best.Candidate.priority.Level {
			break // whatever it is worth
		}
		if !g.seen { // a second search in the pass could find no room because of later candidates
			g.blocked = g.blocked && (p.pass.room >= g.room || !g.shuffles())
			g.seen, g.room = true, p.pass.room
		}
		if name, _ := p.Scarce.Short(g.line[0]); name != "" {
			p.Scarce.reserve(p, g, now)
			g.tried, g.blocked = true, g.blocked && len(p.pass.freed) == 0 // nodes that were freed are not searched for it now
			continue
		}
		n, shares, avoided := p.choosePlace(g, now)
		if n == nil {
			if end := p.block(g, now); len(end) > 0 {
				for _, a := range end {
					a.Job.madeRoom = !p.strict || p.shared()
				}
				best = Decision{Candidate: g.line[0], End: end}
				break
			}
			continue
		}
		if w := p.Worth(p, n, g.line[0], len(p.pass.roomy)); w > worth {
			best, worth = Decision{Candidate: g.line[0], Node: n, Gang: shares, Task: g.line[0].Ready.pickTask(avoided, n.Host, g.mayRetry(p, n, now))}, w
		}
		g.tried = true
		p.pass.roomy = append(p.pass.roomy, g)
		if c := g.line[0]; (c.overtakes() || c.Job.Due != 0) && best.Candidate != nil {
			break // whatever others are worth
		}
	}
	if best.Candidate != nil {
		for _, g := range p.pass.roomy {
			g.tried = false
		}
	}
	return best
}

// turn handles that another job has become the first of a group, or has passed such a job, since the last
// pass: the reserved node may be open to another group now, and shuffling reduces no longer count against
// jobs that come before them.
func (p *Pool) turn() {
	if !p.turned && (p.heldFor == nil || !p.heldFor.Several()) { // what may end before a gang starts depends on what was measured meanwhile
		return
	}
	for _, s := range p.held {
		p.pass.freed = append(p.pass.freed, s.Node)
	}
	if !p.turned {
		return
	}
	p.turned = false
	for _, g := range p.Groups {
		if g.shuffles() && p.shortest {
			g.blocked = false
		}
	}
}

// first returns the group with the first candidate in line among those not tried in this pass.
func (p *Pool) first() *Group {
	var best *Group
	for _, g := range p.Groups {
		if !g.tried && (best == nil || p.before(g.line[0], best.line[0])) {
			best = g
		}
	}
	return best
}

// block notes that there is no room for the group, and returns the attempts to end for it, if any.
func (p *Pool) block(g *Group, now job.Time) (end []*Running) {
	g.tried, g.blocked = true, !g.Urgent && !g.choosy // which nodes suit such tasks changes with the health of nodes, and with the tasks
	if g.infeasible {
		return nil // no memory is reserved for it
	}
	if mem := p.wantsRoom(g); mem > 0 {
		end = p.unobstruct(g, mem, now)
		p.pass.room = max(p.pass.room, mem)
	}
	if !p.pass.holds && p.holdable(g, now) {
		p.pass.holds = true
		p.holdNode(g, now)
	}
	return end
}

// choosePlace returns the node on which the first candidate of the group starts, nil if none has room for it, the shares if it is a gang, and
// whether it should avoid that node.
func (p *Pool) choosePlace(g *Group, now job.Time) (n *Node, shares []Share, avoided bool) {
	if !g.Several() {
		n, avoided = p.chooseNode(g, now)
	} else if shares = p.chooseGang(g, now); shares != nil {
		n = shares[0].Node
	}
	return n, shares, avoided
}

// chooseNode returns the node on which the first candidate of the group starts, nil if none has room
// for it, and whether it should avoid that node.
func (p *Pool) chooseNode(g *Group, now job.Time) (best *Node, avoided bool) {
	nodes := p.Nodes
	if g.blocked {
		nodes = p.pass.freed
	} else {
		g.infeasible = !slices.ContainsFunc(nodes, func(n *Node) bool { return n.couldRun(g, now) })
	}
	avoid := 0
	if !g.Urgent {
		avoid = g.line[0].Ready.avoids()
	}
	if avoid != 0 && !slices.ContainsFunc(p.Nodes, func(n *Node) bool { return n.Up && n.Index != avoid }) {
		avoid = 0
	}
	g.choosy = false
	choice := Choice{plain: g.Demand.GPU == 0}
	if p.Reach(p) > 1 {
		choice.worth = func(n *Node) float64 { return p.Worth(p, n, g.line[0], 0) }
	}
	for _, n := range nodes {
		if choice.worth != nil && choice.offers >= weighed {
			break
		}
		switch {
		case !n.Up || !p.admits(g, n) || !n.InTime(now, g.Span):
		case n.Health.Suspected(now) && p.trusts(now), g.Trusted && n.Health.Avoided(now):
		case n.kept > 0 && p.pass.holds && p.keptFrom(g, n, now):
		case !g.starts(p, n, now):
			g.choosy = true
		default:
			choice.Offer(n, n.Index == avoid)
		}
	}
	return choice.Best()
}

// mayRetry returns which of the group's tasks that start again may do so on the node: all but those that have failed there while another
// node could run them, or may come soon. nil means all. Urgent ones have rules of their own.
func (g *Group) mayRetry(p *Pool, n *Node, now job.Time) func(*retry) bool {
	if g.Urgent {
		return func(r *retry) bool { return r.mayBegin(p, g, n, now) }
	}
	if g.line[0].Ready.marked == 0 {
		return nil
	}
	var others []int32 // the nodes before next that could run them; -1: one that has yet to come
	next := 0          // each node is looked at once, however many tasks wait
	return func(r *retry) bool {
		other := func(m int32) bool { return !slices.Contains(r.failed, m) }
		if other(int32(n.Index)) {
			return true
		}
		found := slices.ContainsFunc(others, other)
		for ; next < len(p.Nodes) && !found; next++ {
			m := p.Nodes[next]
			bad := m.Health.Suspected(now) || g.Trusted && m.Health.Avoided(now)
			switch {
			case now < m.Alloc.Due:
				others, found = append(others, -1), true
			case !bad && (m.Up || m.Away) && m.holds(g, now):
				others, found = append(others, int32(m.Index)), other(int32(m.Index))
			}
		}
		return !found
	}
}

// Suits reports whether one of the candidate's tasks, which wait, may start on the node if it has room.
func (p *Pool) Suits(c *Candidate, n *Node, now job.Time) bool {
	g := Group{Needs: c.Needs, line: line{c}}
	return g.starts(p, n, now)
}

// starts reports whether one of the tasks of the group's first candidate may start on the node, if it has room.
func (g *Group) starts(p *Pool, n *Node, now job.Time) bool {
	q := &g.line[0].Ready
	return !g.Urgent && !q.Choosy() || q.startableRetry(g.mayRetry(p, n, now)) >= 0
}

// weighed is the maximum number of nodes with room that are compared for a candidate. Computing a utility takes
// time, and a node is rarely much better than the best of so many.
const weighed = 64

// trusts reports whether some node is up and not suspected. If there is none, suspicion is ignored.
func (p *Pool) trusts(now job.Time) bool {
	return slices.ContainsFunc(p.Nodes, func(n *Node) bool { return n.Up && !n.Health.Suspected(now) })
}
