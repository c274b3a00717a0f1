package engine

import (
	"berth/internal/core/job"
	"berth/internal/core/sched"
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
	if a := e.runningAttempt(id); a != nil && a.verdict != nil {
		return a.verdict.End
	}
	return 0
}

func (j *jobState) status() step.JobStatus {
	tally := func(c counts) step.Tally {
		return step.Tally{Total: c.total, Running: c.running, Done: c.done, Failed: c.failed}
	}
	return step.JobStatus{
		ID: j.ID, Name: j.work.Name, Kind: j.work.Kind, State: j.state, Code: j.code, Reason: j.reason,
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
func (e *Engine) Allocs() []job.Live {
	all := make([]job.Live, len(e.allocList))
	for i, a := range e.allocList {
		all[i] = a.asLive()
	}
	return all
}

// Held returns the allocations of batch systems that have begun, oldest first, and after them those that were given back and of which
// something may be left. Another job may be planned with those that wait for work.
func (e *Engine) Held() []job.Live {
	all := []job.Live{}
	for _, a := range e.allocList {
		if a.hasBegun() && !a.pool.shape.Endless() {
			l := a.asLive()
			if l.Busy = a.live > 0 || e.offers(a).ok; l.Busy {
				l.Next, l.Free = e.expects(a)
			}
			all = append(all, l)
		}
	}
	for _, a := range e.over {
		all = append(all, job.Live{ID: a.id, Request: a.req, Over: true})
	}
	return all
}

// expects returns when a task of a job that comes now is expected to start on an allocation that has work, and when the allocation is
// expected to be given back: when what runs there and, unless it takes no more, all that waits in its pool is done. They are 0 if the time
// of some tasks is unknown.
func (e *Engine) expects(a *alloc) (next, free job.Time) {
	for _, n := range a.nodes() {
		for _, r := range e.attemptsOn(n) {
			mean := r.job.tasksAlike(r.ID.Task).Left.Known()
			if mean == 0 {
				return 0, 0
			}
			done := max(r.Working.Add(mean), e.now)
			if next == 0 || done < next {
				next = done
			}
			free = max(free, done)
		}
	}
	if a.Retired {
		return 0, free
	}
	waits, cores := 0.0, 0
	for _, j := range a.pool.active {
		for _, t := range j.of {
			n, mean := t.left()-t.running, t.Left.Known()
			if n > 0 && mean == 0 {
				return 0, 0
			}
			waits += float64(n) * mean.Seconds() * float64(max(1, t.Left.CPUs))
		}
	}
	for _, b := range a.pool.allocs {
		if b.hasBegun() && !b.Retired {
			cores += b.req.Nodes * b.req.PerNode.CPUs
		}
	}
	free = max(free, e.now).Add(job.Seconds(waits / float64(max(1, cores))))
	if e.cfg.Order.On(true) != sched.Shortest && waits > 0 {
		next = free
	}
	return next, free
}

// asLive returns the allocation as the plan package sees it.
func (a *alloc) asLive() job.Live {
	if a.hasBegun() {
		return job.Live{ID: a.id, Request: a.req, Began: a.beganAt(), Ends: a.Ends}
	}
	return job.Live{ID: a.id, Request: a.req, Start: a.start}
}
