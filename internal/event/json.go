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

	Name    string            `json:"name,omitempty"`
	JobKind job.Kind          `json:"job_kind,omitempty"`
	Tasks   int               `json:"tasks,omitempty"`
	Reduces int               `json:"reduces,omitempty"`
	Request *job.AllocRequest `json:"request,omitempty"`

	State    State            `json:"state,omitempty"`
	Outcome  string           `json:"outcome,omitempty"`
	Phase    string           `json:"phase,omitempty"`
	Commit   bool             `json:"commit,omitempty"`
	Failed   bool             `json:"failed,omitempty"`
	Gone     bool             `json:"gone,omitempty"`
	Exit     int              `json:"exit,omitempty"`
	Signal   int              `json:"signal,omitempty"`
	Code     job.Code         `json:"code,omitempty"`
	Reason   string           `json:"reason,omitempty"`
	Stderr   string           `json:"stderr,omitempty"`
	Host     string           `json:"host,omitempty"`
	Addr     string           `json:"addr,omitempty"`
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
		v.Request = &r.Work.Alloc
	case JobResumed:
		v.Failed, v.Request = r.Failed, &r.Alloc
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
		v.Reason, v.Stderr, v.Counters = r.Reason, r.Stderr, r.Counters
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
		v.Node, v.Host, v.Addr, v.Capacity = r.Node, r.Host, r.Addr, &r.Capacity
	case NodeLost:
		v.Node, v.Gone, v.Reason = r.Node, r.Gone, r.Reason
	case AllocRequested:
		v.Alloc, v.Request = r.Alloc, &r.Request
	case AllocEnded:
		v.Alloc, v.Reason = r.Alloc, r.Reason
	default:
		return false
	}
	return true
}
