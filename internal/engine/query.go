package engine

import (
	"fmt"

	"berth/internal/event"
	"berth/internal/job"
)

// Tally counts the tasks of a job of one kind. Tasks in none of the numbers but Total wait.
type Tally struct{ Total, Running, Done, Failed int }

// JobStatus is where a job stands.
type JobStatus struct {
	ID      job.ID
	Name    string
	Kind    job.Kind
	State   event.State
	Code    job.Code // why it ended, for Failed and Cancelled
	Reason  string
	Tasks   Tally // bag tasks or maps
	Reduces Tally
	Alloc   job.AllocRequest // the shape it runs on

	Submitted, Started, Ended job.Time // 0: not yet. Started is of the last run, Ended final until a resume
}

// Job returns where a job stands; ok is false if there is no such job.
func (e *Engine) Job(id job.ID) (s JobStatus, ok bool) {
	j := e.jobs[id]
	if j == nil {
		return JobStatus{}, false
	}
	return j.status(), true
}

// Jobs returns where all jobs stand, in the order of their submission.
func (e *Engine) Jobs() []JobStatus {
	all := make([]JobStatus, len(e.line))
	for i, j := range e.line {
		all[i] = j.status()
	}
	return all
}

func (j *jobState) status() JobStatus {
	tally := func(c counts) Tally { return Tally{c.total, c.running, c.done, c.failed} }
	return JobStatus{
		ID: j.work.ID, Name: j.work.Name, Kind: j.work.Kind, State: j.state, Code: j.code, Reason: j.reason,
		Tasks: tally(j.counts[0]), Reduces: tally(j.counts[1]), Alloc: j.work.Alloc,
		Submitted: j.submitted, Started: j.started, Ended: j.ended,
	}
}

// Unfinished returns how many jobs are not over.
func (e *Engine) Unfinished() int {
	n := 0
	for _, j := range e.line {
		if !j.state.Final() {
			n++
		}
	}
	return n
}

// AllocStatus is an allocation that is not over.
type AllocStatus struct {
	ID        job.AllocID
	Request   job.AllocRequest
	Requested job.Time
	Joined    int  // nodes that have ever been up
	Idle      bool // no job is left that could run on it

	Job   job.ID   // whom it was asked for; empty: all jobs of its shape
	Begun bool     // the batch system has started it, or a node is up
	Began job.Time // … then
	Ends  job.Time // when its time is over; 0: it has no end, or has not begun
	Note  string   // while it waits: for what, by the batch system
	Start job.Time // while it waits: when it is expected to begin, by the batch system or else the plan; 0: unknown
}

// Allocs returns the allocations that are not over, oldest first.
func (e *Engine) Allocs() []AllocStatus {
	all := make([]AllocStatus, len(e.allocList))
	for i, a := range e.allocList {
		all[i] = e.allocStatus(a)
	}
	return all
}

func (e *Engine) allocStatus(a *alloc) AllocStatus {
	s := AllocStatus{ID: a.id, Request: a.req, Requested: a.requested, Joined: a.joined, Idle: a.idle(),
		Job: a.job, Begun: a.up(), Began: a.since(), Ends: a.Ends}
	if s.Begun {
		s.Idle = a.live == 0 && !e.use(a).ok
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
		if s := e.allocStatus(a); s.Idle && s.Begun && !a.pool.shape.endless() {
			all = append(all, a.asLive())
		}
	}
	return all
}

// asLive returns the allocation as plans see it.
func (a *alloc) asLive() job.Live {
	if a.up() {
		return job.Live{ID: a.id, Request: a.req, Began: a.since(), Ends: a.Ends}
	}
	return job.Live{ID: a.id, Request: a.req, Start: a.start}
}

// describe names resources for people.
func describe(r job.Resources) string {
	s := fmt.Sprintf("%d %s", r.CPUs, plural(r.CPUs, "core"))
	if r.Mem == 0 {
		return s
	}
	return s + " and " + job.FormatSize(r.Mem)
}

func number(n int, word string) string { return fmt.Sprintf("%d %s", n, plural(n, word)) }
