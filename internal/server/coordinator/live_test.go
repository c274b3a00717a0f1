package coordinator

import (
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
)

// TestCurvesAreMeasured: the curves on record of attempts that were done are among what a run has measured, those of others are not.
func TestCurvesAreMeasured(t *testing.T) {
	spec := &job.Spec{ID: "bag-1", Kind: job.Bag}
	l := &live{assignment: assignment{Decided: &rundir.Decided{Spec: spec}}, report: report.New(report.Info{ID: spec.ID, Kind: spec.Kind})}
	for i, outcome := range []event.Outcome{event.Done, event.Killed, event.Done} {
		r := event.AttemptEnded{Attempt: job.Attempt{Job: spec.ID, Task: i, N: 1}, Outcome: outcome, Source: job.ProgressIO,
			Stats: []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Second)}}}
		if i < 2 {
			r.Curve = []float64{0, 0, 0, 1, float64(i), 1}
		}
		l.observe(event.Entry{Seq: uint64(i + 1), At: job.Time(time.Second), Record: r})
	}
	got := l.measured.all().Curves()
	if len(got) != 1 || got[0].Source != job.ProgressIO || got[0].Kind != job.BagTask || got[0].Marks[4] != 0 {
		t.Errorf("got %+v", got)
	}
}
