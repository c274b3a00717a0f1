package script

import (
	"context"
	"fmt"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// asked is a job whose state is asked for: by its id, or, if that is empty, by its script.
type asked struct {
	ID     string `json:"id,omitempty"`
	Script string `json:"script,omitempty"`
}

// answer is the state of a job.
type answer struct {
	asked
	State  string   `json:"state"`
	Why    string   `json:"why"`
	Never  bool     `json:"never"`
	Start  job.Time `json:"start_ns"`
	End    job.Time `json:"end_ns"`
	Hosts  []string `json:"hosts"`
	Reason string   `json:"reason"`
	Taken  bool     `json:"taken"`
	Exit   *int     `json:"exit"`
}

// states are the states of jobs.
var states = batch.States{batch.Waiting: " waiting ", batch.Starting: " starting ", batch.Running: " running ", batch.Ending: " ending ", batch.Over: " over ", batch.Odd: " suspended "}

func (a *answer) phase() batch.Phase { return states.Phase(a.State) }

// ask asks for jobs.
func (s *System) ask(ctx context.Context, jobs []asked) ([]answer, error) {
	var said struct {
		Jobs []answer `json:"jobs"`
	}
	err := s.call(ctx, "status", struct {
		Jobs []asked `json:"jobs"`
	}{jobs}, &said)
	for i, a := range said.Jobs {
		if unknown := a.State != "" && a.phase() == batch.Gone; err == nil && (unknown || a.ID == "") {
			err = job.ConfigError(s.path("status"), fmt.Sprintf("jobs[%d] has the id %q and the state %q", i, a.ID, a.State), "see docs/scripts.md")
		}
	}
	return said.Jobs, err
}

// status returns the state of a job that was asked for. The reason why a job is ending may come later, so until then its script has ended by itself.
func (a *answer) status(j batch.Job) batch.Status {
	st := batch.Status{Phase: a.phase(), Why: a.Why, Never: a.Never, Start: a.Start, End: a.End, Hosts: a.Hosts}
	if st.Phase == batch.Odd && st.Why == "" {
		st.Why = a.State
	}
	if j.Explain && (st.Phase == batch.Ending || st.Phase == batch.Over) {
		st.Verdict = batch.Verdict{Reason: a.Reason, Taken: a.Taken, Script: a.Exit != nil || st.Phase == batch.Ending}
		if a.Exit != nil && *a.Exit != 0 {
			st.Verdict.Failed, st.Verdict.Exit, st.Verdict.Output = true, *a.Exit, batch.LastWords(j.Output)
		}
	}
	return st
}
