package coordinator

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/server/history"
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

// TestMeasuredByApplication: what is measured of tasks that name an application goes to the run of that application and not to the job's, plans of the
// rest of the job know all of it, and a task that names the job's own application is one of its own.
func TestMeasuredByApplication(t *testing.T) {
	spec := &job.Spec{ID: "bag-1", Kind: job.Bag, Application: "own"}
	l := &live{assignment: assignment{Decided: &rundir.Decided{Spec: spec}}, report: report.New(report.Info{ID: spec.ID, Kind: spec.Kind})}
	names := []string{"", "a", "b", "b", "own", "b"}
	var list job.NeedsList
	for _, name := range names {
		list.Add(job.Needs{Application: name})
	}
	records := []event.Record{event.JobSubmitted{Work: job.Work{ID: spec.ID, Kind: job.Bag, Tasks: len(names), Terms: job.Terms{Attempts: 1}, Further: list.Further, Which: list.Runs()}}}
	for i := range names {
		records = append(records, event.AttemptEnded{Attempt: job.Attempt{Job: spec.ID, Task: i, N: 1}, Outcome: event.Done,
			Stats: []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Second)}}, Expected: 0.9})
	}
	for i, r := range records {
		l.observe(event.Entry{Seq: uint64(i + 1), At: job.Time(time.Second), Record: r})
	}
	if n := l.measured.all().Get(predict.BagTask).Time.Count; n != 6 {
		t.Errorf("%v tasks are measured", n)
	}
	var got []string
	ends := 0
	for _, r := range l.byApplication(history.Run{ID: spec.ID, App: "own-1", Tasks: len(names)}) {
		got = append(got, fmt.Sprintf("%s: %d of %v", predict.Label(r.App), r.Tasks, r.Measures.Get(predict.BagTask).Time.Count))
		if len(r.Ends) != 1 || r.Ends[0].Percent != 10 {
			t.Errorf("%s: expected ends were off by %v", r.App, r.Ends)
		} else {
			ends += r.Ends[0].Attempts
		}
	}
	if want := []string{"own: 2 of 2", "a: 1 of 1", "b: 3 of 3"}; !slices.Equal(got, want) {
		t.Errorf("the history gets %v, want %v", got, want)
	}
	if ends != len(names) {
		t.Errorf("the ends of %d tasks were expected", ends)
	}
}
