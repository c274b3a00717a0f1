package engine

import (
	"cmp"
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// nodeUp handles that a worker joined, and reconciles what it has with what it should have.
func (e *Engine) nodeUp(in step.NodeUp) error {
	id := in.Node.Alloc()
	if e.allocs[id] == nil {
		e.do(step.Release{Alloc: id, Reason: "the allocation is over"})
		return foreign(in.Node, "the node belongs to no live allocation")
	}
	e.emit(in.NodeJoined)
	n := e.nodes[in.Node]
	e.tellEnd(n)
	for _, j := range e.line {
		j.informed.Remove(n.Index) // its worker, which may be a new one, knows no map outputs
	}
	e.reconcileOutputs(n, in.Held)
	e.reconcileAttempts(n, in.Running)
	e.forgetOver(n, in)
	return nil
}

// reconcileAttempts ends the attempts that the worker no longer has, kills
// those that it should not have, and repeats the grants of the others.
func (e *Engine) reconcileAttempts(n *node, has []job.Attempt) {
	here := make(map[job.Attempt]bool, len(has))
	for _, id := range has {
		here[id] = true
		if a := e.runningAttempt(id); a == nil && !e.revive(n, id) || a != nil && !a.isOn(n) {
			e.do(step.Kill{Attempt: id, Node: n.id, Reason: "it was given up as lost"})
			if e.mayBeGang(id) {
				e.do(step.Leave{Attempt: id, Node: n.id})
			}
		}
	}
	for _, a := range e.attemptsOn(n) {
		switch {
		case !here[a.ID]:
			e.loseOn(a, n, "its worker was restarted")
			continue
		case a.node != n:
			e.endOverdue(a)
			continue // its first node is told what it is to be told
		case a.over != nil:
			e.do(step.Kill{Attempt: a.ID, Node: n.id, Reason: "it was given up as lost"})
			continue
		}
		if a.asks, a.puts = false, false; e.contested(a.job) {
			e.askFirst(a)
		}
		switch {
		case a.KillReason != "":
			e.killAttempt(a, a.KillReason)
			continue
		case a.job.tasks[a.ID.Task].status == done:
			e.killAttempt(a, beaten)
			continue
		}
		e.repeatGrants(a)
		if a.Kind == job.ReduceTask {
			e.tellOutputs(n, a.job)
		}
	}
}

// revive restores an attempt that was given up as lost, unless its task was started again.
// Reduces are not restored, as the worker may have a wider grant than the engine knows; nor are gangs, which other nodes have left, and tasks that
// share a GPU, of which others may have a share meanwhile.
func (e *Engine) revive(n *node, id job.Attempt) bool {
	j := e.jobs[id.Job]
	if j == nil || !j.active() || id.Task < 0 || id.Task >= len(j.tasks) || j.kindIndex(id.Task) == 1 || j.tasksAlike(id.Task).Begin.Several() {
		return false
	}
	t, like := &j.tasks[id.Task], j.tasksAlike(id.Task)
	c := &like.Begin
	if short, _ := e.scarce.Short(c); short != "" || c.Demand.GPU%job.Milli != 0 {
		return false // others use it meanwhile
	}
	if e.ranOn(id) != n || !j.startable(like) || t.status != ready || int(t.attempt) != id.N || !n.Admits(c.Demand) || !n.Alloc.Has(c.Licensed, true) {
		return false
	}
	e.emit(event.AttemptStarted{Attempt: id, Node: n.id, Through: c.Through, Mem: j.memory(id.Task)})
	return true
}

// repeatGrants repeats the grants of an attempt. A grant to commit from its start
// has expired with the interruption: the attempt asks for it.
func (e *Engine) repeatGrants(a *attempt) {
	if a.Through > a.Of.Begin.Through {
		e.do(step.Grant{Attempt: a.ID, Node: a.node.id, Phase: a.Through, Memory: a.Sort})
	}
	if a.asked && !e.contested(a.job) { // else it asks for its files
		e.do(step.Commit{Attempt: a.ID, Node: a.node.id})
	}
}

// reconcileOutputs adopts the map outputs that the node holds, and gives up those that
// it should hold and does not.
func (e *Engine) reconcileOutputs(n *node, held []job.Attempt) {
	here := make(map[job.Attempt]bool, len(held))
	for _, id := range held {
		here[id] = true
		e.adoptOutput(n, id)
	}
	for _, j := range e.line {
		if j.tasks == nil || !j.shuffles() {
			continue
		}
		for i := range j.work.Tasks {
			t := &j.tasks[i]
			if t.status != done || int(j.holder[i]) != n.Index {
				continue
			}
			if here[job.Attempt{Job: j.ID, Task: i, N: t.winner()}] {
				e.tellAll(j, i)
			} else if j.state.Final() || j.needsOutputs() {
				e.emit(event.OutputLost{Job: j.ID, Task: i, Reason: fmt.Sprintf("node %s came back without it", n.id)})
			}
		}
	}
}

// adoptOutput records that a map's output, whose holder is unknown or away, is on this node.
func (e *Engine) adoptOutput(n *node, id job.Attempt) {
	j := e.heldMap(id.Job, id.Task)
	if j == nil || j.tasks[id.Task].winner() != id.N {
		return
	}
	if h := e.nodeList[j.holder[id.Task]]; h == nil || h.state != up {
		e.emit(event.OutputHeld{Attempt: id, Node: n.id})
	}
}

// forgetOver makes the node drop the data of jobs that are over. It keeps the data of unknown jobs,
// as they may be resumed.
func (e *Engine) forgetOver(n *node, in step.NodeUp) {
	told := make(map[job.ID]bool)
	for _, ids := range [][]job.Attempt{in.Running, in.Held} {
		for _, id := range ids {
			j := e.jobs[id.Job]
			if j != nil && j.state.Final() && !j.resumable() && !told[id.Job] {
				told[id.Job] = true
				e.do(step.Forget{Node: n.id, Job: id.Job})
			}
		}
	}
}

func (e *Engine) nodeDown(in step.NodeDown) {
	n := e.nodes[in.Node]
	if n == nil || n.state == gone {
		return
	}
	reason := cmp.Or(in.Reason, "the worker does not answer")
	if n.state == up || in.Gone {
		e.emit(event.NodeLost{Node: n.id, Gone: in.Gone, Reason: reason})
	}
	if in.Gone || in.Dead {
		e.endNode(n, reason)
	}
}

// endNode ends the attempts of a node whose worker is gone. If the node is gone
// its map outputs are lost, too.
func (e *Engine) endNode(n *node, reason string) {
	for _, a := range e.attemptsOn(n) {
		e.loseOn(a, n, reason)
	}
	if !n.hasOutputs() {
		e.dropOutputs(func(h *node) bool { return h == n })
	}
}

// givenUpAt returns when a node that does not answer is given up, unless its allocation is suspended.
func (e *Engine) givenUpAt(n *node) job.Time {
	return max(n.since, n.alloc.resumed).Add(e.cfg.NodeTimeout)
}

// fireTimeouts fires the timeouts that are due.
func (e *Engine) fireTimeouts() {
	e.expired = e.now // e.deadline was computed before the input, see begin
	if e.deadline == 0 || e.now < e.deadline {
		return
	}
	for _, a := range e.allocList {
		for _, n := range a.pool.nodes {
			if n.alloc == a && n.state == down && !a.paused && e.now >= e.givenUpAt(n) {
				reason := fmt.Sprintf("it did not come back within %v (%s)", e.cfg.NodeTimeout, n.reason)
				e.emit(event.NodeLost{Node: n.id, Gone: true, Reason: reason})
				e.endNode(n, reason)
			}
		}
		e.changed(a.pool) // nodes may be no longer suspected, and memory that was reserved for a task that is too late is free
	}
	e.dirtyOver = len(e.over) > 0
	e.touchAllocs()
}

// NextTimeout returns the time of the next timeout, at which a Tick is due.
func (e *Engine) NextTimeout() (job.Time, bool) {
	if e.stale {
		e.stale = false
		e.deadline = e.nextDeadline()
	}
	at := e.deadline
	if at == 0 || e.assessAt != 0 && e.assessAt < at {
		at = e.assessAt
	}
	return at, at != 0
}

func (e *Engine) nextDeadline() job.Time {
	var next job.Time
	offer := func(t job.Time) {
		if next == 0 || t < next {
			next = t
		}
	}
	for _, p := range e.pools {
		for _, n := range p.nodes {
			if n.state == down && !n.alloc.paused {
				offer(e.givenUpAt(n))
			}
			for _, until := range [...]job.Time{n.Health.Until, n.Health.SlowUntil} {
				if until > e.expired {
					offer(until)
				}
			}
		}
		for _, a := range p.allocs {
			if a.Due > e.expired {
				offer(a.Due)
			}
		}
		e.poolDeadlines(p, offer)
	}
	for _, a := range e.over {
		if a.clearAt != 0 {
			offer(a.clearAt)
		}
	}
	return next
}

func (e *Engine) recover() {
	for _, n := range e.nodeList[1:] {
		switch {
		case n == nil: // the node was dismissed
		case n.state == up:
			e.emit(event.NodeLost{Node: n.id, Reason: "the coordinator was restarted", Unseen: true})
		case n.state == down: // it could not come back while there was no coordinator, and clocks may have changed
			e.emit(event.NodeLost{Node: n.id, Reason: n.reason, Unseen: true})
		case n.state == gone:
			for _, a := range e.attemptsOn(n) {
				e.loseOn(a, n, "its node is gone")
			}
		}
	}
	e.dropOutputs(func(h *node) bool { return !h.hasOutputs() })
	e.recovered, e.dirtyOver = e.now, true
	for _, a := range e.over {
		e.do(step.Release{Alloc: a.id, On: a.req.On, Reason: "it is over"}) // the release may be on record and not carried out
	}
	for _, j := range e.line {
		if j.state == event.StateFinalizing {
			e.do(step.Finalize{Job: j.ID})
		}
	}
	e.touchAllocs()
}
