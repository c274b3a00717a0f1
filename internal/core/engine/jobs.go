package engine

import (
	"cmp"
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// submit accepts a job, unless it could never run.
func (e *Engine) submit(w job.Work) error {
	if e.jobs[w.ID] != nil {
		return step.UserError(w.ID, "the job was already submitted", "")
	}
	if err := cmp.Or(step.CheckAllocs(&w), e.checkAllUses(&w)); err != nil {
		return err
	}
	e.emit(event.JobSubmitted{Work: w})
	e.contest(e.jobs[w.ID])
	e.takeLog(e.jobs[w.ID])
	return nil
}

func unknownJob(id job.ID) error {
	return step.UserError(id, "there is no such job", "see berth status for the jobs")
}

func (e *Engine) cancel(in step.Cancel) error {
	j := e.jobs[in.Job]
	switch {
	case j == nil:
		return unknownJob(in.Job)
	case j.state.Final():
		return step.UserError(in.Job, "the job is over: "+string(j.state), "")
	case j.state == event.StateFinalizing:
		return step.UserError(in.Job, "all tasks of the job are done and its output is being committed", "")
	case j.state == event.StateStopping:
		return nil // it is being planned
	}
	reason := cmp.Or(in.Reason, "cancelled")
	if len(in.Tasks) > 0 {
		return e.cancelTasks(j, in.Tasks, reason)
	}
	e.stopJob(j, event.StateCancelled, job.CodeInterrupted, reason)
	return nil
}

func (e *Engine) resume(in step.Resume) error {
	j := e.jobs[in.Job]
	switch {
	case j == nil:
		return unknownJob(in.Job)
	case j.state == event.StateDone:
		return step.UserError(in.Job, "the job is done; there is nothing to resume", "")
	case !j.state.Final():
		return step.UserError(in.Job, "the job is not over: it is "+string(j.state), "wait for it or cancel it first")
	case j.work.Kind == job.Bag && !in.Failed && j.unfinished() == 0 && !j.work.Open:
		return step.UserError(in.Job, fmt.Sprintf("no task of the job is left except %d failed ones", j.counts[0].failed),
			"run them again with --failed")
	}
	next := j.work
	in.Change(&next)
	if err := cmp.Or(step.CheckAllocs(&next), e.checkAllUses(&next)); err != nil {
		return err
	}
	e.emit(in.JobResumed)
	e.contest(j)
	e.takeLog(j)
	e.dropOutputs(func(h *node) bool { return h.alloc != nil && h.alloc.clearing })
	return nil
}

func (e *Engine) finalized(in step.Finalized) {
	j := e.jobs[in.Job]
	switch {
	case j == nil || j.state != event.StateFinalizing:
	case in.Failed:
		e.end(j, event.StateFailed, job.CodeIO, in.Reason)
	default:
		e.end(j, event.StateDone, job.CodeFailed, "")
	}
}

// updateJob emits the consequences of changes of a job's tasks.
func (e *Engine) updateJob(j *jobState) {
	if j.state == event.StateStopping && j.Live == 0 {
		e.end(j, j.ending, j.code, j.reason)
	}
	switch {
	case !j.active():
		return
	case len(j.after) > 0:
		e.checkAfter(j)
		return
	}
	e.reviewNeeds(j)
	failures := j.counts[0].failed + j.counts[1].failed
	switch w := &j.work; {
	case j.broken != "":
		e.stopJob(j, event.StateFailed, job.CodeIO, j.broken)
	case w.Kind == job.MapReduce && failures > 0:
		e.stopJob(j, event.StateFailed, job.CodeFailed, j.lastFail)
	case len(j.order.failed) > 0:
		e.skipDependents(j)
	case w.Kind == job.Bag && w.MaxFails >= 0 && j.fails > w.MaxFails:
		e.stopJob(j, event.StateFailed, job.CodeFailed, fmt.Sprintf("%d of %d tasks failed, more than the %d allowed", failures, w.Tasks, w.MaxFails))
	case j.unfinished() > 0:
	case j.Live > 0:
		e.endLeft(j)
	case w.Open: // it waits for more tasks
	case w.Kind == job.MapReduce:
		e.emit(event.JobFinalizing{Job: w.ID})
		e.do(step.Finalize{Job: w.ID})
	case failures > 0:
		what := "failed"
		if len(j.cancelled) > 0 {
			what = "failed or were cancelled"
		}
		e.end(j, event.StateFailed, job.CodeFailed, fmt.Sprintf("%d of %d tasks %s", failures, w.Tasks, what))
	default:
		e.end(j, event.StateDone, job.CodeFailed, "")
	}
}

// endLeft kills the remaining attempts when all tasks of the job are done: duplicates, and maps that ran again for
// reduces that are done by now. It does not wait for those on nodes that do not answer.
func (e *Engine) endLeft(j *jobState) {
	for _, a := range j.sorted() {
		switch {
		case a.node.state != up:
			e.recordEnd(a, event.AttemptEnded{Attempt: a.ID, Outcome: event.Killed, Reason: "all tasks are done"})
		case a.KillReason == "":
			e.killAttempt(a, "no reduce needs its output")
		}
	}
}

// stopJob ends a job in the given state as soon as its attempts are killed.
func (e *Engine) stopJob(j *jobState, s event.State, c job.Code, reason string) {
	e.emit(event.JobStopping{Job: j.ID, State: s, Code: c, Reason: reason})
	for _, a := range j.sorted() {
		e.killAttempt(a, reason)
	}
}

// killAttempt ends an attempt. If its worker is away, it is told when it is back.
func (e *Engine) killAttempt(a *attempt, reason string) {
	a.KillReason = reason
	e.unwantGrant(a)
	if a.node.state == up {
		e.do(step.Kill{Attempt: a.ID, Node: a.node.id, Reason: reason, Keep: keepsOutput(a)})
	}
}

// keepsOutput reports whether what a killed attempt printed is put into place: its job is stopped or its task cancelled, so no other
// attempt does its task. Only one attempt of a task may do that, and it is the one that may commit, if there is one.
func keepsOutput(a *attempt) bool {
	j, task := a.job, a.ID.Task
	if j.state != event.StateStopping && !j.cancelled[int32(task)] || j.work.Kind != job.Bag || j.tasks[task].status == done {
		return false
	}
	return a == cmp.Or(j.granted(task), j.firstAttempt(task))
}

// end ends a job, and makes nodes drop its data, except map outputs of a job that
// may be resumed.
func (e *Engine) end(j *jobState, s event.State, c job.Code, reason string) {
	e.emit(event.JobEnded{Job: j.ID, State: s, Code: c, Reason: reason})
	j.informed, j.plan = nil, planning{}
	if j.resumable() {
		return
	}
	j.touched.All(func(i int) {
		if n := e.nodeList[i]; n.state == up {
			e.do(step.Forget{Node: n.id, Job: j.ID})
		}
	})
}

// resumable reports whether the job may be resumed with map outputs that nodes hold.
func (j *jobState) resumable() bool { return j.state != event.StateDone && j.shuffles() }
