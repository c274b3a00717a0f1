package report

import (
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestSlack: the slack of a job is unknown while its end is, below 0 once its deadline has passed, and in the end that of its actual end.
func TestSlack(t *testing.T) {
	const begin, due = job.Time(1e9), job.Time(61e9)
	j := New(Info{ID: "b-1"})
	seq := uint64(0)
	apply := func(at job.Time, r event.Record) {
		seq++
		j.Apply(event.Entry{Seq: seq, At: at, Record: r})
	}
	slack := func(what string, at job.Time, known bool, want float64) {
		t.Helper()
		v := j.View(at)
		if !v.Deadline.Equal(due.Std()) || (v.SlackS != nil) != known || known && *v.SlackS != want {
			t.Errorf("%s: deadline %v, slack %v, expected %v %g", what, v.Deadline, v.SlackS, known, want)
		}
	}
	apply(begin, event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 1, Terms: job.Terms{Attempts: 1, Due: due}}})
	slack("it waits", begin, false, 0)
	slack("the deadline has passed", due.Add(5*time.Second), true, -5)
	if v := j.Unattended(); v.SlackS != nil {
		t.Errorf("a job that nobody manages has the slack %g", *v.SlackS)
	}
	apply(due.Add(-20*time.Second), event.JobEnded{Job: "b-1", State: event.StateDone})
	slack("it is done", due.Add(time.Hour), true, 20)
}
