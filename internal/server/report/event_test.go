package report

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestEventsOfLine: of attempts that were sent in a line only the first has started. Each other one starts with the end of the one before it, and has
// taken as long as it ran itself. One that is given back before it began, or that is lost with the one before it, has not started.
func TestEventsOfLine(t *testing.T) {
	var got []string
	e := NewEvents(Info{ID: "b-1"}, func(v Event) error {
		if v.Event != "queued" {
			s := fmt.Sprintf("%s %s#%d %s", v.Event, v.Name, v.Attempt, v.Outcome)
			if v.Outcome == "done" {
				s += fmt.Sprintf(" %gs", *v.Elapsed)
			}
			got = append(got, s)
		}
		return nil
	})
	seq, at := uint64(0), job.Time(0)
	apply := func(r event.Record, want ...string) {
		t.Helper()
		seq, at, got = seq+1, at.Add(time.Second), nil
		if err := e.Apply(event.Entry{Seq: seq, At: at, Record: r}); err != nil || !slices.Equal(got, want) {
			t.Errorf("after %v: events %q, %v, want %q", r, got, err, want)
		}
	}
	try := func(task, n int) job.Attempt { return job.Attempt{Job: "b-1", Task: task, N: n} }
	start := func(task, n, behind int) event.AttemptStarted {
		return event.AttemptStarted{Attempt: try(task, n), Node: "a1/0", Behind: behind}
	}
	end := func(task int, o event.Outcome) event.AttemptEnded {
		r := event.AttemptEnded{Attempt: try(task, 1), Outcome: o, Returned: o == event.Killed}
		if o == event.Done { // it is reported together with later ones
			r.Stats = []job.PhaseStat{{Phase: job.PhaseFetch, Start: at.Add(-500 * time.Millisecond), End: at.Add(-250 * time.Millisecond)}}
		}
		return r
	}
	apply(event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 5, Terms: job.Terms{Attempts: 1, MaxFails: -1}}})
	apply(start(0, 1, 0), "started 1#1 ")
	for task := 1; task < 5; task++ {
		apply(start(task, 1, task))
	}
	apply(end(2, event.Killed), "ended 3#1 killed")
	apply(end(0, event.Done), "ended 1#1 done 0.25s", "started 2#1 ")
	apply(end(1, event.Done), "ended 2#1 done 0.25s", "started 4#1 ")
	apply(start(2, 2, 0), "started 3#2 ")
	apply(end(3, event.Lost), "ended 4#1 lost")
	apply(end(4, event.Lost), "ended 5#1 lost")
	apply(start(4, 2, 1), "started 5#2 ") // the one that it was to be behind is over
}
