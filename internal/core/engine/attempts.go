package engine

import (
	"fmt"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

func (e *Engine) phaseEntered(in step.PhaseEntered) {
	if a := e.runningAttempt(in.Attempt); a != nil && a.phase != in.Phase {
		e.emit(event.PhaseEntered{Attempt: in.Attempt, Phase: in.Phase})
	}
}

// grantWanted adds the attempt to those that wait on its node, or repeats its
// grant if it has one.
func (e *Engine) grantWanted(in step.GrantWanted) {
	a := e.runningAttempt(in.Attempt)
	switch {
	case a == nil:
	case a.KillReason != "":
		e.killAttempt(a, a.KillReason)
	case in.Phase <= a.Through:
		e.do(step.Grant{Attempt: a.ID, Node: a.node.id, Phase: a.Through, Memory: a.Sort})
	default:
		e.wantGrant(a, in.Phase)
	}
}

// commitWanted grants the commit, unless the attempt is killed and nothing of it is kept.
func (e *Engine) commitWanted(in step.CommitWanted) {
	a := e.runningAttempt(in.Attempt)
	switch {
	case a == nil:
	case a.KillReason != "" && !a.commit && !keepsOutput(a):
		e.killAttempt(a, a.KillReason)
	default:
		a.file = in.Files
		e.tryCommit(a)
	}
}

// tryCommit grants the commit, unless another attempt of the task has the grant or an older claim holds its files. Then the attempt waits
// until the other has ended.
func (e *Engine) tryCommit(a *attempt) {
	switch by := a.job.granted(a.ID.Task); {
	case by != nil && by != a:
		a.held = true
	case e.mustWait(a):
		a.held = true
		if !slices.Contains(e.blocked, a) {
			e.blocked = append(e.blocked, a)
		}
	default:
		e.grantCommit(a)
	}
}

func (e *Engine) attemptEnded(r event.AttemptEnded) {
	a := e.runningAttempt(r.Attempt)
	if a == nil {
		if r.Outcome == event.Done && e.lateResult(r.Attempt) {
			e.emit(r)
		}
		return
	}
	if r.Outcome != event.Done && r.Outcome != event.Requeued && a.lingers() {
		told := r // r itself stays off the heap
		a.over = &overdue{told: &told}
		return
	}
	e.endTold(a, r)
}

// endTold ends an attempt as its worker said.
func (e *Engine) endTold(a *attempt, r event.AttemptEnded) {
	told := r.Cut // its worker was told to end
	r.Cut, r.Slow, r.Last, r.Size, r.LostOn = false, false, false, 0, ""
	if r.Outcome == event.Lost {
		r.LostOn = a.lostOn
	}
	r.Returned = r.Returned && r.Outcome == event.Killed && a.KillReason == ""
	r.Shares = r.Shares[:min(len(r.Shares), 1+len(a.shares))]
	if r.Outcome == event.Outgrown { // no worker knows that
		r.Outcome = event.Failed
	}
	switch {
	case r.Outcome == event.Done && a.job.tasks[a.ID.Task].status == done:
		r.Outcome, r.Reason = event.Killed, beaten
	case a.lack != "" && r.Outcome != event.Done && r.Outcome != event.Requeued:
		r = e.shareLost(a, r, told)
	case (r.Outcome == event.Killed && a.KillReason == "" || r.Outcome == event.Failed && r.Signal != 0) && a.outlived(e.now):
		r = event.AttemptEnded{Attempt: a.ID, Outcome: event.Lost, Cut: true, Reason: "the wall time of its allocation was over"}
	case r.Returned:
	case r.Outcome == event.Requeued:
		r = e.requeued(a, r)
	case r.Outcome == event.Failed && r.Lack != event.LackNothing:
		r = e.outgrown(a, r)
	case r.Outcome == event.Lost && told && !a.endless():
		r.Cut = true
	case r.Outcome == event.Killed && a.KillReason == "" || r.Outcome == event.Lost:
		r = e.tooOften(a, r)
	}
	r.Slow = a.slow && r.Outcome == event.Killed
	if r.Curve, r.Expected = nil, 0; r.Outcome == event.Done {
		r.Size = a.job.tasksAlike(a.ID.Task).needs.Size
		took := a.duration(e.now, r.Stats)
		r.Curve = a.job.tasksAlike(a.ID.Task).past.Record(took, a.track, r.Source)
		r.Expected = a.outlook.atHalf(took)
	}
	e.recordEnd(a, r)
	if r.Outcome == event.Done && a.Kind == job.MapTask && a.job.shuffles() {
		e.tellAll(a.job, a.ID.Task)
	}
}

// tooOften turns a loss into a failure if the task was lost too often: then the
// task probably kills its workers.
func (e *Engine) tooOften(a *attempt, r event.AttemptEnded) event.AttemptEnded {
	if n := int(a.job.tasks[a.ID.Task].lost); n >= e.cfg.MaxLost && !r.Cut {
		r.Outcome = event.Failed
		r.Reason = fmt.Sprintf("lost with its worker (%s); %d attempts of the task were lost before", r.Reason, n)
	}
	return r
}

// loseAttempt ends an attempt whose worker or node is gone.
func (e *Engine) loseAttempt(a *attempt, reason string) {
	r := event.AttemptEnded{Attempt: a.ID, Outcome: event.Lost, Reason: reason, Cut: a.outlived(e.now)}
	if a.shares != nil {
		r.LostOn = a.node.id
	}
	e.recordEnd(a, e.tooOften(a, r))
}

// fetchFailed handles a report that a map's output is damaged or out of reach: the map
// runs again. If the holder is known to be away, the engine waits for it: it may come
// back with the output, and is given up after a timeout.
func (e *Engine) fetchFailed(in step.FetchFailed) {
	in.Reason = event.Clip(in.Reason)
	j := e.heldMap(in.Map.Job, in.Map.Task)
	by := e.runningAttempt(in.By)
	if j == nil || !j.active() || by == nil || by.job != j || by.Kind != job.ReduceTask {
		return
	}
	if by.Through != job.PhaseShuffle && !by.commit && by.KillReason == "" {
		// The reduce has a core that the map may need, so it must not wait for the map.
		e.killAttempt(by, "its input is damaged: "+in.Reason)
	}
	t := &j.tasks[in.Map.Task]
	n := e.nodeList[j.holder[in.Map.Task]]
	if t.winner() != in.Map.N || n == nil || n.state != up && n.outputs == "" {
		return
	}
	if in.Addr != "" && in.Addr != n.addr { // the holder's worker was restarted meanwhile
		e.locate(by.node, j, in.Map.Task)
		return
	}
	e.emit(event.OutputLost{Job: j.ID, Task: in.Map.Task, Reason: in.Reason, Bad: true})
	if int(t.bad) >= e.cfg.MaxBadOutputs {
		e.stopJob(j, event.StateFailed, job.CodeIO, fmt.Sprintf("the output of %s could not be read %d times, last from %s: %s",
			j.work.NameOf(in.Map.Task), t.bad, n.id, in.Reason))
	}
}
