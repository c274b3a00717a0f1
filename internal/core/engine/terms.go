package engine

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// setTerms changes the terms of a job that is not over. Attempts that run keep what they have, so a limit below what runs only stops further
// starts.
func (e *Engine) setTerms(in step.Set) error {
	err := e.CheckSet(in)
	if err == nil {
		e.emit(in.TermsChanged)
	}
	return err
}

// CheckSet returns the error with which such a change would be refused.
func (e *Engine) CheckSet(in step.Set) error {
	j := e.jobs[in.Job]
	switch {
	case j == nil:
		return unknownJob(in.Job)
	case j.state.Final():
		return step.UserError(in.Job, "the job is over: "+string(j.state), "change it with: berth resume")
	case !j.active():
		return step.UserError(in.Job, "the job is "+string(j.state)+", and starts no task any more", "")
	}
	next := j.work
	next.Terms = in.Terms
	err := step.CheckAllocs(&next)
	if err == nil && next.Uses != j.work.Uses { // a lower limit keeps no job from other changes
		err = e.checkAllUses(&next)
	}
	return err
}

// Terms returns the terms of a job that can be set; ok is false for any other.
func (e *Engine) Terms(id job.ID) (t job.Terms, ok bool) {
	j := e.jobs[id]
	if j == nil || !j.active() {
		return t, false
	}
	return j.work.Terms, true
}

func (e *Engine) applyTerms(j *jobState, r event.TermsChanged) {
	before, to := j.work.Terms, r.Terms
	j.work.Terms, j.reset = to, j.reset || !r.PlaceOnly
	if to.Needs() != before.Needs() || to.ReduceNeed != before.ReduceNeed {
		for _, t := range j.of {
			j.keepRunning(t)
		}
	}
	j.renewNeeds(before)
	p := j.pool
	if p == nil { // it enters the line with its present terms
		return
	}
	if j.Weight != j.work.Share() {
		for _, t := range j.of {
			p.Remove(&t.Begin)
			p.Remove(&t.Urgent)
		}
		p.Reweigh(&j.Job, j.work.Share())
	}
	j.Level = j.work.Priority
	j.demand()
	e.scarceMoved()
	p.Reorder()
	e.changed(p)
}

// isReset reports whether options of a job on a batch system on which its requests depend have changed since it was planned.
func (j *jobState) isReset() bool { return j.reset && !j.pool.shape.Endless() }
