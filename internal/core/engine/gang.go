package engine

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// A gang is a task of several ranks. Its attempt has a share of them on each of several nodes of an allocation. The first of these is the
// attempt's node: its worker runs the program, reports, and asks to commit. The others are told to join, and have no messages of their own but
// that their share is lost. When one of them is lost the attempt is killed at its first node, and its end counts as a loss.

// share is the part of a gang on a node other than its first one.
type share struct {
	sched.Running
	node *node
	lost bool // nothing of it is left on a node that does not answer
}

// startGang starts a gang on the nodes of the decision.
func (e *Engine) startGang(c *sched.Candidate, d sched.Decision) {
	gang := make([]event.Share, len(d.Gang))
	for i, s := range d.Gang {
		gang[i] = event.Share{Node: e.nodeList[s.Node.Index].id, Ranks: s.Ranks, GPUs: s.Node.Sharing(c.Demand, s.Ranks)}
	}
	e.startTask(c, e.nodeList[d.Node.Index], d.Task, nil, gang)
}

// joinGang tells the nodes of a gang other than the first one to join, and returns how the nodes reach each other. It does nothing for a task
// of one process.
func (e *Engine) joinGang(id job.Attempt, gang []event.Share) []step.Share {
	if gang == nil {
		return nil
	}
	all := make([]step.Share, len(gang))
	for i, s := range gang {
		n := e.nodes[s.Node]
		all[i] = step.Share{Share: s, Host: n.Host, Addr: n.addr}
	}
	for _, s := range gang[1:] {
		e.do(step.Join{Attempt: id, Node: s.Node})
	}
	return all
}

// leaveGang has the nodes of a gang other than the first one end what is left of it.
func (e *Engine) leaveGang(a *attempt) {
	for _, s := range a.shares {
		if s.node.state == up {
			e.do(step.Leave{Attempt: a.ID, Node: s.node.id})
		}
	}
}

// occupyShares applies that a gang has ranks on its nodes: it counts those of the first node to what the attempt holds, and adds the others.
func (e *Engine) occupyShares(a *attempt, gang []event.Share) {
	for i, s := range gang {
		holds := a.Of.Demand.Most(job.PhaseNone, a.Through).Times(s.Ranks)
		if i == 0 {
			a.Holds, a.GPUs = holds, s.GPUs
			continue
		}
		h := &share{node: e.node(s.Node), Running: sched.Running{ID: a.ID, Job: a.Job, Of: a.Of, Kind: a.Kind, Through: a.Through, Holds: holds, GPUs: s.GPUs, Working: a.Working, Share: true}}
		a.shares = append(a.shares, h)
		a.job.pool.Occupy(&h.node.Node, &h.Running)
		a.job.touched.Add(h.node.Index)
	}
}

// vacateShares applies that a gang has ended on the nodes other than its first one.
func (e *Engine) vacateShares(at job.Time, a *attempt) {
	for _, h := range a.shares {
		a.job.pool.Vacate(&h.node.Node, &h.Running, at.Sub(a.Working))
		e.nodeFreed(h.node)
	}
}

// blamed returns the nodes to which the end of an attempt counts: of a gang the one whose loss ended it or, if that is not known, all, as the
// others soon have attempts that are done.
func (a *attempt) blamed(lostOn job.NodeID) []*node {
	all := []*node{a.node}
	for _, h := range a.shares {
		all = append(all, h.node)
	}
	if i := slices.IndexFunc(all, func(n *node) bool { return n.id == lostOn }); i >= 0 {
		return all[i : i+1]
	}
	return all
}

// isOn reports whether the attempt has a part on the node.
func (a *attempt) isOn(n *node) bool { return a.node == n || onShare(a.shares, n.id) }

func onShare(shares []*share, n job.NodeID) bool {
	return slices.ContainsFunc(shares, func(h *share) bool { return h.node.id == n })
}

// overdue is the end of a gang on its first node.
type overdue struct {
	told *event.AttemptEnded // what its worker said; nil: it was lost
	lost string              // for this reason
}

// lingers reports whether a node of a gang other than its first one does not answer: its worker may be dead, and what the gang has started there
// alive, until the next worker has killed it or the node is given up.
func (a *attempt) lingers() bool {
	return slices.ContainsFunc(a.shares, func(h *share) bool { return h.node.state == down && !h.lost })
}

// endOverdue ends a gang that has ended on its first node once it does not linger on the others: no later attempt runs beside it.
func (e *Engine) endOverdue(a *attempt) {
	switch o := a.over; {
	case o == nil || a.lingers():
	case o.told != nil:
		e.endTold(a, *o.told)
	default:
		e.loseAttempt(a, o.lost)
	}
}

// loseOn handles that what an attempt has on the node is lost. A gang that may commit needs its first node alone. If it is another node of a
// gang, the attempt is killed, and lost once its first node says that it has ended.
func (e *Engine) loseOn(a *attempt, n *node, reason string) {
	for _, h := range a.shares {
		h.lost = h.lost || h.node == n
	}
	switch {
	case a.over != nil:
		if n != a.node && a.lostOn == "" {
			a.lostOn = n.id // why its first node said that it was lost
		}
		e.endOverdue(a)
	case a.node == n:
		a.over = &overdue{lost: reason}
		e.endOverdue(a)
	case a.commit || a.KillReason != "":
	default:
		a.lostOn, a.lack = n.id, explain.With("%s, on which ranks of it ran, was lost: %s", n.id, reason)
		e.killAttempt(a, a.lack)
	}
}

// fromShare handles what a node of a gang other than the first one says of its share, and reports whether it may say that: that the share is
// lost, or anything of a gang that is over.
func (e *Engine) fromShare(id job.Attempt, in step.FromWorker) bool {
	a := e.runningAttempt(id)
	if a == nil {
		return slices.ContainsFunc(e.jobs[id.Job].lostRuns[int32(id.Task)], func(r lostRun) bool { return r.n == id.N && onShare(r.shares, in.Node) })
	}
	end, ended := in.Input.(step.AttemptEnded)
	if !ended || end.Outcome != event.Lost || !onShare(a.shares, in.Node) {
		return false
	}
	e.loseOn(a, e.nodes[in.Node], end.Reason)
	a.cut = end.Cut
	return true
}

// shareLost turns the end of a gang that was killed because a share was lost into a loss. told says that its worker was told to end, too.
func (e *Engine) shareLost(a *attempt, r event.AttemptEnded, told bool) event.AttemptEnded {
	r.Outcome, r.Reason, r.Lack, r.Returned, r.LostOn = event.Lost, a.lack, event.LackNothing, false, a.lostOn
	r.Cut = (a.cut || told) && !a.endless() || a.outlived(e.now)
	return e.tooOften(a, r)
}

// mayBeGang reports whether an attempt that is over may be one of a gang, so that a node that still has it may have only joined it.
func (e *Engine) mayBeGang(id job.Attempt) bool {
	j := e.jobs[id.Job]
	return j != nil && id.Task >= 0 && id.Task < len(j.tasks) && j.tasksAlike(id.Task).Begin.Several()
}

// fitsGang reports whether the nodes of the allocation hold one of the tasks, which are gangs, together: those that are there, and those that
// have yet to come.
func (a *alloc) fitsGang(t *byNeeds) bool {
	rooms := slices.Repeat([]int{a.req.PerNode.Slots(t.Need)}, max(0, a.req.Nodes-a.joined))
	if a.joined == 0 {
		return t.needs.FitsIn(rooms)
	}
	for _, n := range a.nodes() {
		if n.state != gone {
			has := n.Capacity.Resources()
			has.GPUType = n.GPUType
			rooms = append(rooms, has.Slots(t.Need))
		}
	}
	return t.needs.FitsIn(rooms)
}

// together returns how many ranks of a task with these needs share a node at least: one of a task that is no gang.
func (j *jobState) together(n job.Needs) int64 {
	if !n.Several() {
		return 1
	}
	together := max(1, n.RanksPerNode)
	if r := j.work.Alloc; !r.Elastic && r.Nodes > 0 {
		together = max(together, (n.Ranks+r.Nodes-1)/r.Nodes)
	}
	return int64(together)
}
