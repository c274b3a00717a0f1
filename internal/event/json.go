package event

import (
	"encoding/json"
	"fmt"
	"time"

	"berth/internal/job"
)

// view is an entry as people read it: names for kinds, phases and outcomes, one flat
// object in which a record fills the fields that it has.
type view struct {
	Seq  uint64 `json:"seq"`
	At   string `json:"at"` // RFC 3339 with nanoseconds, UTC
	Kind string `json:"kind"`

	Job     job.ID      `json:"job,omitempty"`
	Task    *int        `json:"task,omitempty"`
	Attempt int         `json:"attempt,omitempty"`
	Node    job.NodeID  `json:"node,omitempty"`
	Alloc   job.AllocID `json:"alloc,omitempty"`
	For     job.ID      `json:"for,omitempty"` // the job that an allocation was asked for

	Name    string            `json:"name,omitempty"`
	JobKind job.Kind          `json:"job_kind,omitempty"`
	Tasks   int               `json:"tasks,omitempty"`
	Reduces int               `json:"reduces,omitempty"`
	Request *job.AllocRequest `json:"request,omitempty"`

	job.Course
	Most     time.Duration `json:"most_time_ns,omitempty"`
	Decision string        `json:"decision,omitempty"`
	Ends     string        `json:"ends,omitempty"` // RFC 3339 with nanoseconds, UTC
	Unwanted bool          `json:"unwanted,omitempty"`

	State    State            `json:"state,omitempty"`
	Outcome  string           `json:"outcome,omitempty"`
	Phase    string           `json:"phase,omitempty"`
	Commit   bool             `json:"commit,omitempty"`
	Failed   bool             `json:"failed,omitempty"`
	Gone     bool             `json:"gone,omitempty"`
	Exit     int              `json:"exit,omitempty"`
	Signal   int              `json:"signal,omitempty"`
	Cut      bool             `json:"cut,omitempty"`
	Code     job.Code         `json:"code,omitempty"`
	Reason   string           `json:"reason,omitempty"`
	Stderr   string           `json:"stderr,omitempty"`
	Host     string           `json:"host,omitempty"`
	Addr     string           `json:"addr,omitempty"`
	Outputs  string           `json:"outputs,omitempty"`
	Capacity *job.Resources   `json:"capacity,omitempty"`
	Phases   []phaseView      `json:"phases,omitempty"`
	Counters map[string]int64 `json:"counters,omitempty"`
}

// phaseView is a phase's measurements with the phase's name.
type phaseView struct {
	Phase string `json:"phase"`
	job.PhaseStat
}

// MarshalJSON renders the entry for people and their tools, one flat object with
// names instead of numbers. The journal does not use it and nothing reads it back.
func (e Entry) MarshalJSON() ([]byte, error) {
	if e.Record == nil {
		return nil, fmt.Errorf("event: entry %d has no record", e.Seq)
	}
	v := view{
		Seq:  e.Seq,
		At:   e.At.Std().Format(time.RFC3339Nano),
		Kind: e.Record.Kind().String(),
		Job:  e.Record.Of(),
	}
	if !v.job(e.Record) && !v.attempt(e.Record) && !v.place(e.Record) {
		return nil, fmt.Errorf("event: entry %d: %T has no JSON form", e.Seq, e.Record)
	}
	return json.Marshal(v)
}

// String returns the entry as one line of JSON.
func (e Entry) String() string {
	b, err := e.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// job fills in a record about a job as a whole.
func (v *view) job(r Record) bool {
	switch r := r.(type) {
	case JobSubmitted:
		v.Name, v.JobKind, v.Tasks, v.Reduces = r.Work.Name, r.Work.Kind, r.Work.Tasks, r.Work.Reduces
		v.Request, v.Course = &r.Work.Alloc, r.Work.Course
	case JobResumed:
		v.Failed, v.Request, v.Course = r.Failed, &r.Alloc, r.Course
	case JobPlanned:
		v.Scout, v.TaskTimes, v.Decision, v.Most = r.Scout, r.TaskTimes, r.Decision, r.Most
	case JobStopping:
		v.State, v.Code, v.Reason = r.State, r.Code, r.Reason
	case JobFinalizing:
	case JobEnded:
		v.State, v.Code, v.Reason = r.State, r.Code, r.Reason
	case OutputLost:
		v.Task, v.Reason = &r.Task, r.Reason
	default:
		return false
	}
	return true
}

// attempt fills in a record about an attempt.
func (v *view) attempt(r Record) bool {
	var a job.Attempt
	switch r := r.(type) {
	case AttemptStarted:
		a, v.Node, v.Phase, v.Commit = r.Attempt, r.Node, r.Leave.String(), r.Commit
	case PhaseEntered:
		a, v.Phase = r.Attempt, r.Phase.String()
	case LeaveGranted:
		a, v.Phase = r.Attempt, r.Phase.String()
	case CommitGranted:
		a = r.Attempt
	case OutputHeld:
		a, v.Node = r.Attempt, r.Node
	case AttemptEnded:
		a, v.Outcome, v.Exit, v.Signal = r.Attempt, r.Outcome.String(), r.Exit, r.Signal
		v.Reason, v.Stderr, v.Counters, v.Cut = r.Reason, r.Stderr, r.Counters, r.Cut
		for _, s := range r.Stats {
			v.Phases = append(v.Phases, phaseView{Phase: s.Phase.String(), PhaseStat: s})
		}
	default:
		return false
	}
	v.Task, v.Attempt = &a.Task, a.N
	return true
}

// place fills in a record about a node or an allocation.
func (v *view) place(r Record) bool {
	switch r := r.(type) {
	case NodeJoined:
		v.Node, v.Host, v.Addr, v.Capacity, v.Outputs = r.Node, r.Host, r.Addr, &r.Capacity, r.Outputs
	case NodeLost:
		v.Node, v.Gone, v.Reason = r.Node, r.Gone, r.Reason
	case AllocRequested:
		v.Alloc, v.Request, v.For = r.Alloc, &r.Request, r.Job
	case AllocBegan:
		v.Alloc = r.Alloc
		if r.Ends != 0 {
			v.Ends = r.Ends.Std().Format(time.RFC3339Nano)
		}
	case AllocEnded:
		v.Alloc, v.Reason, v.Unwanted = r.Alloc, r.Reason, r.Unwanted
	case AllocCleared:
		v.Alloc = r.Alloc
	default:
		return false
	}
	return true
}
