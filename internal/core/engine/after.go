package engine

import (
	"fmt"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// A job that comes after others (job.Work.After) is in no pool until those are done: it has nothing
// to start, and requests no allocation and no plan.

// admitJob puts a job into the line, or makes it wait for the jobs that it comes after.
func (e *Engine) admitJob(at job.Time, j *jobState) {
	if len(j.after) == 0 {
		e.enterLine(j)
		e.restBag(at, j)
	}
	e.touchJob(j)
}

// checkAfter updates a job that waits for others: it fails if one of them has ended without being done.
func (e *Engine) checkAfter(j *jobState) {
	for _, id := range slices.Clone(j.after) {
		if before := e.jobs[id]; before == nil {
			e.do(step.Seek{Job: id})
		} else if before.state.Final() {
			e.follow(j, id, before.state, before.reason)
		}
		if !j.active() {
			return
		}
	}
}

// follow handles the end of a job that the job waits for.
func (e *Engine) follow(j *jobState, id job.ID, s event.State, reason string) {
	what := string(s)
	switch s {
	case event.StateDone:
		e.emit(event.JobFollowed{Job: j.ID, After: id})
		return
	case event.StateCancelled:
		what = "was cancelled"
	case "":
		what = "no longer exists"
	}
	if what = fmt.Sprintf("it comes after %s, which %s", id, what); reason != "" {
		what += ": " + reason
	}
	e.stopJob(j, event.StateFailed, job.CodeArguments, what)
}

// jobFound handles the answer to Seek: the end of a job that is not in memory.
func (e *Engine) jobFound(in step.Found) {
	for _, j := range e.line {
		if j.active() && slices.Contains(j.after, in.Job) && e.jobs[in.Job] == nil {
			e.follow(j, in.Job, in.State, in.Reason)
		}
	}
}

// applyFollowed applies that a job is done that another job waits for. After the last of them the waiting job enters
// the line. Its plan for a batch system was made for an earlier time, so it is planned again.
func (e *Engine) applyFollowed(at job.Time, j *jobState, r event.JobFollowed) {
	if !slices.Contains(j.after, r.After) {
		return
	}
	j.after = slices.DeleteFunc(j.after, func(id job.ID) bool { return id == r.After })
	if len(j.after) > 0 || !j.active() {
		return
	}
	j.Released = max(j.Released, at)
	e.enterLine(j)
	j.asked = len(j.work.More) + 1
	e.restBag(at, j)
}
