package report

import (
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// TestNoteTime: attempts that are done count by their phases without the shuffle, at their host and in the hour of their end; those that were ended as
// too slow, or because another was first, are slow. Failures, losers that were duplicates, and attempts that tell no time do not count.
func TestNoteTime(t *testing.T) {
	seq := uint64(0)
	j := New(Info{ID: "mr-1", Nodes: NewNodes()})
	end := job.Time(time.Date(2026, 3, 2, 15, 30, 0, 0, time.Local).UnixNano())
	apply := func(at job.Time, r event.Record) {
		seq++
		j.info.Nodes.Apply(event.Entry{Seq: seq, At: at, Record: r})
		j.Apply(event.Entry{Seq: seq, At: at, Record: r})
	}
	apply(end, event.JobSubmitted{Work: job.Work{ID: "mr-1", Kind: job.MapReduce, Tasks: 14, Reduces: 10, Terms: job.Terms{Attempts: 3, ReduceAttempts: 3, MaxFails: -1}}})
	for i, host := range []string{"n1", "n2"} {
		apply(end, event.NodeJoined{Node: job.AllocID("a1").Node(i), Host: host, Capacity: job.Resources{CPUs: 4}})
	}
	begin := func(task, n, node int) job.Attempt {
		at := job.Attempt{Job: "mr-1", Task: task, N: n}
		apply(end, event.AttemptStarted{Attempt: at, Node: job.AllocID("a1").Node(node)})
		return at
	}
	took := func(p job.Phase, seconds float64) job.PhaseStat {
		return job.PhaseStat{Phase: p, Start: end, End: end.Add(time.Duration(seconds * float64(time.Second)))}
	}
	for i := range 10 { // ten of four seconds are the median, maps and reduces, whatever their shuffles took
		apply(end, event.AttemptEnded{Attempt: begin(i, 1, 0), Outcome: event.Done, Stats: []job.PhaseStat{took(job.PhaseMap, 4)}})
		apply(end, event.AttemptEnded{Attempt: begin(14+i, 1, 0), Outcome: event.Done, Stats: []job.PhaseStat{took(job.PhaseShuffle, float64(100*i)), took(job.PhaseReduce, 4)}})
	}
	first, second := begin(10, 1, 1), begin(10, 2, 0)
	apply(end, event.AttemptEnded{Attempt: second, Outcome: event.Done, Stats: []job.PhaseStat{took(job.PhaseMap, 4)}}) // a duplicate is first
	apply(end, event.AttemptEnded{Attempt: first, Outcome: event.Killed})
	first, second = begin(11, 1, 0), begin(11, 2, 1)
	apply(end, event.AttemptEnded{Attempt: first, Outcome: event.Done, Stats: []job.PhaseStat{took(job.PhaseMap, 4)}}) // a duplicate is too late
	apply(end, event.AttemptEnded{Attempt: second, Outcome: event.Killed})
	apply(end, event.AttemptEnded{Attempt: begin(12, 1, 1), Outcome: event.Killed, Slow: true})
	apply(end, event.AttemptEnded{Attempt: begin(12, 2, 1), Outcome: event.Failed, Stats: []job.PhaseStat{took(job.PhaseMap, 100)}})
	apply(end, event.AttemptEnded{Attempt: begin(12, 3, 1), Outcome: event.Done}) // it tells no time
	apply(end.Add(time.Hour), event.AttemptEnded{Attempt: begin(13, 1, 1), Outcome: event.Done, Stats: []job.PhaseStat{took(job.PhaseMap, 40)}})
	want := predict.Spells{{Host: "n1", Hour: 15, Attempts: 22}, {Host: "n2", Hour: 15, Attempts: 2, Slow: 2}, {Host: "n2", Hour: 16, Attempts: 1, Slow: 1}}
	got := j.Spells()
	if len(got) != len(want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}
