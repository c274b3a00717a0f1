package sched

import (
	"slices"

	"berth/internal/job"
)

// Selector is the policy of all schedulers: whoever is first in line starts first, or of the first in line those whose start
// is worth most, by the rules of the scheduler.
//
// An attempt that goes on comes before all that begin, as what it holds already is of no use to
// anyone until it does. Then the first candidates of all classes are tried in their order until none
// finds room. For the first that finds none a node is kept (hold.go), and reduces that shuffle make room
// (room.go). A class that found no room in an earlier pass looks only at nodes with something freed since.
//
// That is Algorithm 1 of the paper phase-level-scheduling, with two differences: nodes for which something has
// changed are looked at together, so that a candidate that is new finds the best node; and memory that
// others need is kept for them, so that no phase waits for ever.
type Selector struct {
	rules    rules
	shortest bool // jobs come in the order Shortest, else in that of Place.Order …
	strict   bool // the first in line starts, and no start changes the line

	held    *Node  // kept for the first candidate that found no room …
	heldFor *Class // … which is the first of this class …
	heldJob *Job   // … of this job

	pass pass
}

// pass is the pass over a pool that is under way.
type pass struct {
	open  bool
	freed []*Node  // nodes with something freed since the last pass
	next  int      // freed[next:] are yet to be looked at for attempts that go on
	tasks bool     // tasks are being looked at, attempts that go on are through
	holds bool     // no room was found for a class, and a node is kept for it if one can be
	room  int64    // bytes that reduces which shuffle are to leave to classes for which no room was found
	roomy []*Class // that have room, and are weighed against each other
}

// Demand, Through, Paused, SortMemory and Rank are the rules'.
func (r *Selector) Demand(j *Job, kind job.TaskKind) Demand { return r.rules.demand(j, kind) }

func (r *Selector) Through(j *Job, kind job.TaskKind, phase job.Phase) job.Phase {
	return r.rules.through(j, kind, phase)
}

func (r *Selector) Paused(holds job.Vector) job.Vector { return r.rules.paused(holds) }

func (r *Selector) SortMemory(n *Node, c *Candidate) int64 {
	if c.Kind == job.BagTask {
		return 0
	}
	return r.rules.sortMemory(n, c)
}

func (r *Selector) Rank(p *Pool, j *Job) job.Time { return r.rules.rank(p, j) }

// Moved reports whether the job has passed another and something may start or be made room for because of
// that: the first of a class; as the first of a class, a job with reduces that shuffle, which count
// against its own only while it is behind them; as the job that a node is kept for, one that runs
// there, whose room later candidates may use or not.
func (r *Selector) Moved(p *Pool, j *Job, was Place) bool {
	passed := func(k *Job) bool { return j != k && k.Before(was) != k.Before(j.Place) }
	if r.heldJob == j && r.held != nil && slices.ContainsFunc(r.held.Running, func(a *Running) bool { return passed(a.Job) }) {
		return true
	}
	for _, c := range p.Classes {
		first := c.line[0].Job
		if passed(first) || first == j && slices.ContainsFunc(p.shuffles, passed) {
			return true
		}
	}
	return false
}

// Select makes a pass over the pool, one decision a call.
func (r *Selector) Select(p *Pool, now job.Time) Decision {
	if !r.pass.open {
		r.pass.freed = p.take(r.pass.freed)
		r.pass.open, r.pass.next, r.pass.tasks, r.pass.holds, r.pass.room = true, 0, false, false, 0
	}
	for ; r.pass.next < len(r.pass.freed); r.pass.next++ {
		n := r.pass.freed[r.pass.next]
		if n.Up && len(n.waiting.line) > 0 {
			if c := r.onward(n, now); c != nil {
				return Decision{Candidate: c, Node: n}
			}
		}
	}
	if !r.pass.tasks {
		r.turn(p)
		for _, c := range p.Classes {
			c.tried, c.seen = false, false
		}
		r.pass.tasks = true
	}
	if d := r.begin(p, now); d.Candidate != nil {
		return d
	}
	if !r.pass.holds {
		r.hold(p, nil, now)
	}
	r.pass.open = false
	return Decision{}
}

// onward returns the attempt among those that wait on the node which is to go on, nil if none can. Where nothing runs
// that could make room, the one that has waited longest goes on whatever it takes.
func (r *Selector) onward(n *Node, now job.Time) *Candidate {
	c := r.rules.onward(n, now)
	if c == nil && n.stalled() {
		return n.bySince()[0]
	}
	return c
}

// begin returns the start that is worth most of those of the first candidates in line that have room, as many as
// the rules reach; or which attempts are to end for a candidate that has none.
func (r *Selector) begin(p *Pool, now job.Time) (best Decision) {
	reach, worth := r.rules.reach(p), 0.0
	r.pass.roomy = r.pass.roomy[:0]
	for c := p.first(); c != nil && len(r.pass.roomy) < reach; c = p.first() {
		if !c.seen { // later it may be that those behind it found no room, which is none of its business
			c.blocked = c.blocked && (r.pass.room >= c.room || !c.shuffles())
			c.seen, c.room = true, r.pass.room
		}
		n, avoided := r.place(p, c, now)
		if n == nil {
			if end := r.block(p, c, now); len(end) > 0 {
				for _, a := range end {
					a.Job.madeRoom = !r.strict
				}
				best = Decision{Candidate: c.line[0], End: end}
				break
			}
			continue
		}
		if w := r.rules.worth(p, n, c.line[0], len(r.pass.roomy)); w > worth {
			best, worth = Decision{Candidate: c.line[0], Node: n, Task: c.line[0].Ready.pick(avoided, n.Host)}, w
			if c.Urgent {
				best.Task, _ = c.urgentFor(p, n, now)
			}
		}
		c.tried = true
		r.pass.roomy = append(r.pass.roomy, c)
	}
	if best.Candidate != nil {
		for _, c := range r.pass.roomy {
			c.tried = false
		}
	}
	return best
}

// turn takes in that another job has come to be the first of a class, or has passed such a job,
// since the last pass: the node that is kept for one may be free for another now, and reduces that shuffle
// count no more against those that go before them.
func (r *Selector) turn(p *Pool) {
	if !p.turned {
		return
	}
	p.turned = false
	for _, c := range p.Classes {
		if c.shuffles() && r.shortest {
			c.blocked = false
		}
	}
	if r.held != nil {
		r.pass.freed = append(r.pass.freed, r.held)
		r.pass.next = len(r.pass.freed)
	}
}

// first returns the class whose first candidate goes first among those not tried in this pass.
func (p *Pool) first() *Class {
	var best *Class
	for _, c := range p.Classes {
		if !c.tried && (best == nil || c.line[0].before(best.line[0])) {
			best = c
		}
	}
	return best
}

// block takes in that there is no room for the class, and returns which attempts are to end for it, if any.
func (r *Selector) block(p *Pool, c *Class, now job.Time) (end []*Running) {
	c.tried, c.blocked = true, !c.Urgent // where such tasks may begin changes with what is found of nodes
	if c.infeasible {
		return nil // nothing need be kept for it
	}
	if mem := r.wantsRoom(c); mem > 0 {
		end = r.unobstruct(p, c, mem, now)
		r.pass.room = max(r.pass.room, mem)
	}
	if !r.pass.holds && r.holdable(p, c, now) {
		r.pass.holds = true
		r.hold(p, c, now)
	}
	return end
}

// place returns the node on which the first candidate of the class is to begin, nil if none has room
// for it, and whether it should rather not begin there.
func (r *Selector) place(p *Pool, c *Class, now job.Time) (best *Node, avoided bool) {
	nodes := p.Nodes
	if c.blocked {
		nodes = r.pass.freed
	} else {
		c.infeasible = !slices.ContainsFunc(nodes, func(n *Node) bool { return n.couldTake(c, now) })
	}
	avoid := 0
	if !c.Urgent {
		avoid = c.line[0].Ready.avoids()
	}
	if avoid != 0 && !slices.ContainsFunc(p.Nodes, func(n *Node) bool { return n.Up && n.Index != avoid }) {
		avoid = 0
	}
	var choice Choice
	if r.rules.reach(p) > 1 {
		choice.worth = func(n *Node) float64 { return r.rules.worth(p, n, c.line[0], 0) }
	}
	for _, n := range nodes {
		if choice.worth != nil && choice.offers >= weighed {
			break
		}
		switch {
		case !n.Up || !r.admits(c, n) || !n.InTime(now, c.Span):
		case n.Health.Suspected(now) && p.trusts(now), c.Trusted && n.Health.Avoided(now):
		case n == r.held && r.pass.holds && r.keptFrom(c):
		case c.Urgent && !c.mayUrge(p, n, now):
		default:
			choice.Offer(n, n.Index == avoid)
		}
	}
	return choice.Best()
}

// weighed is how many nodes that have room for a candidate are weighed against each other. The worth of a start takes
// time to find, and a node is rarely much better than the best of so many.
const weighed = 64

// trusts reports whether a node is up that is not suspected. Where there is none, suspicion is of no use.
func (p *Pool) trusts(now job.Time) bool {
	return slices.ContainsFunc(p.Nodes, func(n *Node) bool { return n.Up && !n.Health.Suspected(now) })
}
