package report

import (
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// An attempt that waits for a grant between two phases is shown with what it waits for, until it goes on.
func TestWaitsBetweenPhases(t *testing.T) {
	at := job.Attempt{Job: "b-1", Task: 0, N: 1}
	j := New(Info{ID: "b-1"})
	j.Apply(event.Entry{Seq: 1, At: 1e9, Record: event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 1, Terms: job.Terms{Attempts: 1}}}})
	j.Apply(event.Entry{Seq: 2, At: 1e9, Record: event.AttemptStarted{Attempt: at, Node: "a1/0"}})
	j.Apply(event.Entry{Seq: 3, At: 2e9, Record: event.PhaseEntered{Attempt: at, Phase: job.PhaseCompute}})
	j.ApplyStatus(at, "half way")
	j.ApplyProgress(job.Progress{Attempt: at}, job.PhaseNone, 0, 0, -1)
	if v := j.View(3e9).Running[0]; v.Phase != "compute" || v.Status != "waits to begin store" {
		t.Errorf("while it waits: %+v", v)
	}
	j.Apply(event.Entry{Seq: 4, At: 4e9, Record: event.PhaseEntered{Attempt: at, Phase: job.PhaseStore}})
	if v := j.View(5e9).Running[0]; v.Phase != "store" || v.Status != "half way" {
		t.Errorf("when it has gone on: %+v", v)
	}
}

// A phase that takes clearly more memory than the job came with is told once.
func TestOutgrownPhaseIsTold(t *testing.T) {
	j := New(Info{ID: "b-1"})
	takes := []job.PhaseDemand{{Phase: job.PhaseCompute, Demand: job.Vector{Memory: 100 << 20}}}
	j.Apply(event.Entry{Seq: 1, At: 1, Record: event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 4, Demands: takes, Terms: job.Terms{Attempts: 1}}}})
	for i, peak := range []int64{100 << 20, 120 << 20, 300 << 20, 400 << 20} {
		at := job.Attempt{Job: "b-1", Task: i, N: 1}
		j.Apply(event.Entry{Seq: uint64(2*i + 2), At: 1, Record: event.AttemptStarted{Attempt: at, Node: "a1/0"}})
		j.Apply(event.Entry{Seq: uint64(2*i + 3), At: 2, Record: event.AttemptEnded{Attempt: at, Outcome: event.Done,
			Stats: []job.PhaseStat{{Phase: job.PhaseFetch, PeakMemory: peak}, {Phase: job.PhaseCompute, PeakMemory: peak}}}})
		if n := len(j.View(3).Notes); n != min(1, i/2) {
			t.Errorf("after %d tasks there are %d notes", i+1, n)
		}
	}
}
