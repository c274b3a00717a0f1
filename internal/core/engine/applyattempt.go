package engine

import (
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
)

func (e *Engine) applyStarted(at job.Time, r event.AttemptStarted) {
	j := e.jobs[r.Attempt.Job]
	i := r.Attempt.Task
	if j == nil || j.state.Final() || i < 0 || i >= len(j.tasks) || !j.tasks[i].begins(r.Attempt.N) {
		e.Reserve(r.Node.Alloc())
		return
	}
	n := e.node(r.Node)
	like := j.tasksAlike(i)
	j.unready(i)
	late := j.firstAttempt(i) != nil
	for a := j.firstAttempt(i); a != nil; a = a.duplicate { // it is the duplicate of an attempt that was found too slow
		e.slow(at, a.node)
	}
	j.moveTask(i, running)
	j.tasks[i].attempt = int32(r.Attempt.N)
	a := &attempt{
		Running: sched.Running{ID: r.Attempt, Job: &j.Job, Of: &like.Tasks, Kind: like.Kind(), Through: r.Through, Holds: like.Demand.Most(job.PhaseNone, r.Through), GPUs: r.GPUs, Working: at},
		job:     j, node: n, alloc: n.alloc, commit: r.Commit, late: late,
	}
	a.lineUp(j.onNode(r.Behind-1, n))
	a.had, a.uses = limits(like.needs), like.needs.Uses
	if a.uses != "" {
		e.scarce.Take(&like.Tasks, a.uses)
		e.scarceChanged()
	}
	j.begun = true
	j.joinAttempt(a)
	e.occupyShares(a, r.Gang)
	j.pool.Occupy(&n.Node, &a.Running)
	j.pool.Shuffle(&n.Node, &a.Running, j.Waits)
	if a.alloc != nil {
		a.alloc.live++
	}
	if a.Shuffles() {
		e.stale = e.stale || a.wallEnd() != 0 // it is killed when it is too late for it
	}
	j.touched.Add(n.Index)
	like.Begin.Ready.Started(n.Host, int32(i))
	if j.state == event.StateQueued {
		j.state, j.started = event.StateRunning, at
	}
	e.enqueue(j)
}

func (e *Engine) applyGrant(at job.Time, a *attempt, p job.Phase) {
	e.unwantGrant(a)
	if a.Shuffles() {
		a.Working = at
	}
	a.job.pool.Grant(&a.node.Node, &a.Running, p, a.Of.Demand.Most(a.Through, p))
	e.nodeFreed(a.node)
	e.enqueue(a.job)
}

// wantGrant and unwant note that an attempt waits for a grant, and that it no longer does.
func (e *Engine) wantGrant(a *attempt, p job.Phase) {
	if a.next == nil {
		j := a.job
		c := &sched.Candidate{Job: &j.Job, Running: &a.Running, Node: &a.node.Node, Phase: p, Through: j.pool.Through(a.Of, p), Since: e.now}
		c.Kind, c.Demand, c.Peak, c.Span = a.Kind, a.Of.Demand.Most(a.Through, c.Through), a.Of.Begin.Peak, a.grantSpan()
		a.next = c
		j.pool.Put(c)
		j.pool.Pause(&a.node.Node, &a.Running)
	}
	e.nodeFreed(a.node)
}

func (e *Engine) unwantGrant(a *attempt) {
	if a.next != nil {
		a.job.pool.Remove(a.next)
		a.node.Unpause(&a.Running)
		a.next = nil
		e.nodeFreed(a.node) // no task started there because of the waiting attempt
	}
}

// removeAttempt removes an attempt that has ended from its job and its node.
func (e *Engine) removeAttempt(at job.Time, a *attempt) {
	e.unwantGrant(a)
	lead, next := a.leaveLine()
	a.job.pool.Vacate(&a.node.Node, &a.Running, at.Sub(a.Working))
	e.vacateShares(at, a)
	a.job.partAttempt(a)
	if a.uses != "" {
		e.scarce.Return(a.uses)
		e.scarceChanged()
	}
	if lead == nil && next != nil {
		next.takeOver(at, a.Holds)
	}
	if l := a.alloc; l != nil {
		l.live--
		l.used = max(l.used, at)
		if l.live == 0 || a.job.unproductive != (unproductive{}) {
			e.touchAllocs() // something may have waited for the end of the attempt
		}
	}
	e.nodeFreed(a.node)
}

func (e *Engine) applyEnded(at job.Time, r event.AttemptEnded) {
	j := e.jobs[r.Attempt.Job]
	a := j.runningAttempt(r.Attempt)
	switch {
	case a != nil:
		e.removeAttempt(at, a)
		e.applyOutcome(at, a, r)
	case r.Outcome == event.Done && e.lateResult(r.Attempt):
		j.finish(r.Attempt)
	default:
		return
	}
	e.enqueue(j)
	e.restBag(at, j)
	e.touchJob(j)
}

// lateResult reports whether the attempt was lost, but its task was not started
// again and its node has none of its results. Then a late result is
// as good as any.
func (e *Engine) lateResult(id job.Attempt) bool {
	j := e.jobs[id.Job]
	if j == nil || j.state.Final() || id.Task < 0 || id.Task >= len(j.tasks) {
		return false
	}
	t := &j.tasks[id.Task]
	return t.status == ready && t.attempt >= int32(id.N) && id.N > 0 && !(j.shuffles() && id.Task < j.work.Tasks)
}

// applyOutcome applies the end of an attempt to its task and to the health of its node.
func (e *Engine) applyOutcome(at job.Time, a *attempt, r event.AttemptEnded) {
	j, i, n := a.job, a.ID.Task, a.node
	t := &j.tasks[i]
	if r.Slow {
		e.slow(at, n)
	}
	if a.late && r.Outcome != event.Done || r.Slow {
		j.tasksAlike(i).spent += at.Sub(a.Working)
	}
	if t.status == done || t.status == failed {
		return // another attempt was first
	}
	if r.Outcome == event.Done {
		if a.track == nil { // the record is replayed
			a.track = straggler.Unpack(r.Source, r.Curve)
		}
		e.applyDone(at, a, r.Stats)
		return
	}
	blamed := a.blamed(r.LostOn)
	avoid := int32(blamed[0].Index)
	switch r.Outcome {
	case event.Failed:
		e.strike(at, a, blamed)
		j.noteBad(i, n)
		t.fails = min(t.fails, 1<<16-2) + 1
		if (int(t.fails) >= j.tasksAlike(i).attempts || r.Last) && j.firstAttempt(i) == nil {
			e.fail(a, r.Reason)
			return
		}
	case event.Outgrown:
		if r.Lack == event.LackNodeMemory {
			break
		}
	case event.Requeued:
		j.applyRequeued(at, a, r.Stats)
		e.touchAllocs()
	case event.Lost:
		j.noteLost(a)
		if r.Cut {
			j.cutShort(a, at)
			break
		}
		e.strike(at, a, blamed)
		if r.Lack == event.LackDisk {
			j.noteBad(i, n)
		}
		t.lost = min(t.lost, 254) + 1
		j.lastLost = fmt.Sprintf("%s on %s: %s", j.work.NameOf(i), n.id, r.Reason)
	case event.Killed:
		if r.Returned {
			j.givenBack(int32(i))
			avoid = 0
			break
		}
		if !a.Shuffles() && !r.Slow { // a shuffling reduce or a slow attempt is killed for lack of time or memory
			t.lost = min(t.lost, 254) + 1
		}
	case event.Broken:
		e.strike(at, a, blamed)
		j.noteBad(i, n)
		if j.broken == "" {
			j.broken = fmt.Sprintf("%s on %s: %s", j.work.NameOf(i), n.id, r.Reason)
		}
	}
	if t.status != running || j.firstAttempt(i) != nil {
		return // it waits already, or has another attempt
	}
	if j.cancelled[int32(i)] {
		j.giveUp(i)
		return
	}
	j.moveTask(i, ready)
	if r.Slow {
		j.tasksAlike(i).Urgent.Ready.AddUrgent(int32(i), int32(n.Index), 0, 0, false)
		return
	}
	if r.Outcome == event.Requeued || r.Outcome == event.Outgrown {
		avoid = 0
	}
	j.retryTask(i, avoid)
}

// applyDone applies that the task of an attempt is done.
func (e *Engine) applyDone(at job.Time, a *attempt, stats []job.PhaseStat) {
	j, i, n := a.job, a.ID.Task, a.node
	kept := j.kept[int32(i)]
	j.finish(a.ID)
	j.learnMemory(a, stats)
	if j.shuffles() && a.Kind == job.MapTask {
		j.holder[i] = int32(n.Index)
	}
	if n.alloc != nil {
		n.alloc.pool.done++
	}
	n.Health.Good()
	for _, h := range a.shares {
		h.node.Health.Good()
	}
	e.learnMeasures(a, at, stats, kept)
}

// fail applies that the task of an attempt has failed for good.
func (e *Engine) fail(a *attempt, reason string) {
	j, i := a.job, a.ID.Task
	n := int(j.tasks[i].fails)
	j.moveTask(i, failed)
	j.forgetCut(i)
	delete(j.failedOn, int32(i))
	j.noteFailed(int32(i))
	j.fails++
	j.lastFail = fmt.Sprintf("%s failed in %s, last on %s: %s", j.work.NameOf(i), job.Count(n, "attempt"), a.node.id, reason)
}

// slow counts a slow attempt against its node. Tasks that waited for that node may start elsewhere now.
func (e *Engine) slow(at job.Time, n *node) {
	n.Health.Slow(at, e.cfg.Trust)
	e.stale = true
	if n.alloc != nil && !n.alloc.ended {
		e.markPool(n.alloc.pool)
	}
}

// strike counts a failed or lost attempt against those of its nodes.
func (e *Engine) strike(at job.Time, a *attempt, nodes []*node) {
	if a.node.alloc == nil || a.node.alloc.ended {
		return
	}
	p := a.node.alloc.pool
	for _, n := range nodes {
		if n.Health.Bad(at, p.done, e.cfg.Trust) {
			e.changed(p)
			e.stale = true
		}
	}
}
