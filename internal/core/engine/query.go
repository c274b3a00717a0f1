package engine

import (
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// Job returns the state of a job; ok is false if the job is unknown.
func (e *Engine) Job(id job.ID) (s step.JobStatus, ok bool) {
	j := e.jobs[id]
	if j == nil {
		return step.JobStatus{}, false
	}
	return j.status(), true
}

// Jobs returns the states of all jobs, in the order of their submission.
func (e *Engine) Jobs() []step.JobStatus {
	all := make([]step.JobStatus, len(e.line))
	for i, j := range e.line {
		all[i] = j.status()
	}
	return all
}

// EndOf returns the expected end of a running attempt by its last assessment, 0 if unknown.
func (e *Engine) EndOf(id job.Attempt) job.Time {
	if a := e.find(id); a != nil && a.verdict != nil {
		return a.verdict.End
	}
	return 0
}

func (j *jobState) status() step.JobStatus {
	tally := func(c counts) step.Tally {
		return step.Tally{Total: c.total, Running: c.running, Done: c.done, Failed: c.failed}
	}
	return step.JobStatus{
		ID: j.work.ID, Name: j.work.Name, Kind: j.work.Kind, State: j.state, Code: j.code, Reason: j.reason,
		Tasks: tally(j.counts[0]), Reduces: tally(j.counts[1]), Alloc: j.work.Alloc,
		Submitted: j.submitted, Started: j.started, Ended: j.ended,
	}
}

// Unfinished returns the number of jobs that are not over.
func (e *Engine) Unfinished() int {
	n := 0
	for _, j := range e.line {
		if !j.state.Final() {
			n++
		}
	}
	return n
}

// Allocs returns the allocations that are not over, oldest first.
func (e *Engine) Allocs() []step.AllocStatus {
	all := make([]step.AllocStatus, len(e.allocList))
	for i, a := range e.allocList {
		all[i] = e.allocStatus(a)
	}
	return all
}

func (e *Engine) allocStatus(a *alloc) step.AllocStatus {
	s := step.AllocStatus{ID: a.id, Request: a.req, Requested: a.requested, Joined: a.joined, Idle: a.idle(),
		Job: a.job, Begun: a.up(), Began: a.since(), Ends: a.Ends}
	if s.Begun {
		s.Idle = a.live == 0 && !e.offers(a).ok
	} else {
		s.Note, s.Start = a.note, a.start
		if s.Start == 0 {
			s.Start = a.req.Start
		}
	}
	return s
}

// Idle returns the allocations of batch systems that have begun and wait for work, oldest first. Another
// job may be planned with them.
func (e *Engine) Idle() []job.Live {
	all := []job.Live{}
	for _, a := range e.allocList {
		if s := e.allocStatus(a); s.Idle && s.Begun && !a.pool.shape.Endless() {
			all = append(all, a.asLive())
		}
	}
	return all
}

// asLive returns the allocation as the plan package sees it.
func (a *alloc) asLive() job.Live {
	if a.up() {
		return job.Live{ID: a.id, Request: a.req, Began: a.since(), Ends: a.Ends}
	}
	return job.Live{ID: a.id, Request: a.req, Start: a.start}
}
