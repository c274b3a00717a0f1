package sched

import (
	"slices"

	"berth/internal/core/job"
)

// Selector is the policy of all schedulers. By the rules of the scheduler it starts the first in line, or the candidate
// with the highest utility among the first in line.
//
// Attempts that wait for a grant come before all candidates that start tasks, as nobody can use what they hold
// until they continue. Then the first candidates of all groups are tried in their order until none
// finds room. For the first that finds none a node is reserved (hold.go), and shuffling reduces are ended if
// they hold its memory (room.go). A group that found no room in an earlier pass searches only nodes that were freed since.
//
// That is Algorithm 1 of the paper phase-level-scheduling, with two differences: all changed nodes are
// searched together, so that a new candidate finds the best node; and memory that others need is reserved
// for them, so that no phase waits forever.
type Selector struct {
	Rules
	shortest bool // jobs are in the order Shortest, else in the order of Priority.Order …
	strict   bool // the first in line starts, and no start changes the line

	held      *Node  // node reserved for the first candidate that found no room …
	heldFor   *Group // … which is the first of this group …
	heldJob   *Job   // … and belongs to this job
	heldFirst int32  // its first task

	pass pass
}

// pass is the present pass over a pool.
type pass struct {
	open  bool
	freed []*Node  // nodes that were freed since the last pass
	next  int      // freed[next:] have yet to be searched for attempts that wait for a grant
	tasks bool     // attempts that wait are done with; the pass is at tasks
	holds bool     // a group found no room, and a node is reserved for it if possible
	room  int64    // bytes that shuffling reduces must leave to groups that found no room
	roomy []*Group // groups that have room, and are compared with each other
}

// SortMemory is that of the rules for maps and reduces.
func (r *Selector) SortMemory(n *Node, c *Candidate) int64 {
	if c.Kind == job.BagTask {
		return 0
	}
	return r.Rules.SortMemory(n, c)
}

// Rank returns the rank by the rules, and of a job with a deadline that deadline, before all others.
func (r *Selector) Rank(p *Pool, j *Job) job.Time {
	if j.Due != 0 {
		return hurried + j.Due
	}
	return r.Rules.Rank(p, j)
}

// Moved reports whether the job has passed another in a way that something may start or must be ended. That holds
// if the job is the first of a group; or if it passed the first of a group and has shuffling reduces, which count
// against those of later jobs only; or if it passed the job that a node is reserved for and runs on that node.
func (r *Selector) Moved(p *Pool, j *Job, was Priority) bool {
	passed := func(k *Job) bool { return j != k && k.Before(was) != k.Before(j.Priority) }
	if r.heldJob == j && r.held != nil && slices.ContainsFunc(r.held.Running, func(a *Running) bool { return passed(a.Job) }) {
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

// Select continues the pass over the pool and returns its next decision.
func (r *Selector) Select(p *Pool, now job.Time) Decision {
	if !r.pass.open {
		r.pass.freed = p.takeFreed(r.pass.freed)
		r.pass.open, r.pass.next, r.pass.tasks, r.pass.holds, r.pass.room = true, 0, false, false, 0
	}
	for ; r.pass.next < len(r.pass.freed); r.pass.next++ {
		n := r.pass.freed[r.pass.next]
		if n.Up && len(n.waiting.line) > 0 {
			if c := r.onward(p, n); c != nil {
				return Decision{Candidate: c, Node: n}
			}
		}
	}
	if !r.pass.tasks {
		r.turn(p)
		for _, g := range p.Groups {
			g.tried, g.seen = false, false
		}
		r.pass.tasks = true
	}
	if d := r.begin(p, now); d.Candidate != nil {
		return d
	}
	if !r.pass.holds {
		r.holdNode(p, nil, now)
	}
	r.pass.open = false
	return Decision{}
}

// onward returns the attempt that gets the next grant among those that wait on the node, nil if none fits. If no attempt of
// the node can free anything by ending, the longest waiting one continues whatever its demand.
func (r *Selector) onward(p *Pool, n *Node) *Candidate {
	c := r.Onward(p, n)
	if c == nil && n.stalled() {
		return n.bySince()[0]
	}
	return c
}

// begin returns the start with the highest utility among the first candidates in line that have room, as many as
// the rules consider; or the attempts to end for a candidate without room.
func (r *Selector) begin(p *Pool, now job.Time) (best Decision) {
	reach, worth := r.Reach(p), 0.0
	r.pass.roomy = r.pass.roomy[:0]
	for g := p.first(); g != nil && len(r.pass.roomy) < reach; g = p.first() {
		if !g.seen { // a second search in the pass could find no room because of later candidates
			g.blocked = g.blocked && (r.pass.room >= g.room || !g.shuffles())
			g.seen, g.room = true, r.pass.room
		}
		n, avoided := r.chooseNode(p, g, now)
		if n == nil {
			if end := r.block(p, g, now); len(end) > 0 {
				for _, a := range end {
					a.Job.madeRoom = !r.strict || p.shared()
				}
				best = Decision{Candidate: g.line[0], End: end}
				break
			}
			continue
		}
		if w := r.Worth(p, n, g.line[0], len(r.pass.roomy)); w > worth {
			best, worth = Decision{Candidate: g.line[0], Node: n, Task: g.line[0].Ready.pickTask(avoided, n.Host, g.mayRetry(p, n, now))}, w
		}
		g.tried = true
		r.pass.roomy = append(r.pass.roomy, g)
		if c := g.line[0]; (c.overtakes() || c.Job.Due != 0) && best.Candidate != nil {
			break // whatever others are worth
		}
	}
	if best.Candidate != nil {
		for _, g := range r.pass.roomy {
			g.tried = false
		}
	}
	return best
}

// turn handles that another job has become the first of a group, or has passed such a job, since the last
// pass: the reserved node may be open to another group now, and shuffling reduces no longer count against
// jobs that come before them.
func (r *Selector) turn(p *Pool) {
	if !p.turned {
		return
	}
	p.turned = false
	for _, g := range p.Groups {
		if g.shuffles() && r.shortest {
			g.blocked = false
		}
	}
	if r.held != nil {
		r.pass.freed = append(r.pass.freed, r.held)
		r.pass.next = len(r.pass.freed)
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
func (r *Selector) block(p *Pool, g *Group, now job.Time) (end []*Running) {
	g.tried, g.blocked = true, !g.Urgent && !g.choosy // which nodes suit such tasks changes with the health of nodes, and with the tasks
	if g.infeasible {
		return nil // no memory is reserved for it
	}
	if mem := r.wantsRoom(g); mem > 0 {
		end = r.unobstruct(p, g, mem, now)
		r.pass.room = max(r.pass.room, mem)
	}
	if !r.pass.holds && r.holdable(p, g, now) {
		r.pass.holds = true
		r.holdNode(p, g, now)
	}
	return end
}

// chooseNode returns the node on which the first candidate of the group starts, nil if none has room
// for it, and whether it should avoid that node.
func (r *Selector) chooseNode(p *Pool, g *Group, now job.Time) (best *Node, avoided bool) {
	nodes := p.Nodes
	if g.blocked {
		nodes = r.pass.freed
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
	if r.Reach(p) > 1 {
		choice.worth = func(n *Node) float64 { return r.Worth(p, n, g.line[0], 0) }
	}
	for _, n := range nodes {
		if choice.worth != nil && choice.offers >= weighed {
			break
		}
		switch {
		case !n.Up || !r.admits(g, n) || !n.InTime(now, g.Span):
		case n.Health.Suspected(now) && p.trusts(now), g.Trusted && n.Health.Avoided(now):
		case n == r.held && r.pass.holds && r.keptFrom(p, g):
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
