package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// An attempt that waits for a grant between two phases is shown with what it waits for, until it goes on.
func TestWaitsBetweenPhases(t *testing.T) {
	at := job.Attempt{Job: "b-1", Task: 0, N: 1}
	j := New(Info{ID: "b-1"})
	j.Apply(event.Entry{Seq: 1, At: 1e9, Record: event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 1, Terms: job.Terms{Attempts: 1}}}})
	j.Apply(event.Entry{Seq: 2, At: 1e9, Record: event.AttemptStarted{Attempt: at, Node: "a1/0"}})
	j.Apply(event.Entry{Seq: 3, At: 2e9, Record: event.PhaseEntered{Attempt: at, Phase: job.PhaseCompute}})
	j.ApplyProgress("a1/0", wire.Progress{Progress: job.Progress{Attempt: at}, PhaseProgress: probe.PhaseProgress{Part: -1, Status: "half way"}})
	if v := j.View(3e9).Running[0]; v.Phase != "compute" || v.Status != "waits to begin store" {
		t.Errorf("while it waits: %+v", v)
	}
	j.Apply(event.Entry{Seq: 4, At: 4e9, Record: event.PhaseEntered{Attempt: at, Phase: job.PhaseStore}})
	if v := j.View(5e9).Running[0]; v.Phase != "store" || v.Status != "half way" {
		t.Errorf("when it has gone on: %+v", v)
	}
}

// TestSameOutputs: that two tasks left the same file is told, and not that a task left its own again.
func TestSameOutputs(t *testing.T) {
	j := New(Info{ID: "b-1"})
	j.Apply(event.Entry{Seq: 1, At: 1, Record: event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 4, Terms: job.Terms{Attempts: 3}}}})
	for i, x := range []struct {
		task, n int
		outcome event.Outcome
		files   []string
		want    string
	}{
		{0, 1, event.Requeued, []string{"a", "b"}, ""},
		{0, 2, event.Done, []string{"a", "b"}, ""},
		{1, 1, event.Failed, nil, ""},
		{1, 2, event.Done, []string{"c"}, ""},
		{2, 1, event.Done, []string{"c"}, "task 3: it and task 2 left the same file, c,"},
		{3, 1, event.Done, []string{"d", "a", "b", "c"}, "task 4: it and task 1 left the same file, a, of which one is in place, and 2 more files;"},
	} {
		at := job.Attempt{Job: "b-1", Task: x.task, N: x.n}
		before := j.View(3).WarningsTotal
		j.Apply(event.Entry{Seq: uint64(2*i + 2), At: 1, Record: event.AttemptStarted{Attempt: at, Node: "a1/0"}})
		j.Apply(event.Entry{Seq: uint64(2*i + 3), At: 2, Record: event.AttemptEnded{Attempt: at, Outcome: x.outcome, Outputs: x.files}})
		v := j.View(3)
		if told := v.WarningsTotal > before; told != (x.want != "") || told && !strings.HasPrefix(v.Warnings[v.WarningsTotal-1], x.want) {
			t.Errorf("%+v: %q", x, v.Warnings)
		}
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

// Of attempts that were sent in a line one runs, the others wait: they are not shown as running. Each begins with the end of the one before
// it. One that is given back has taken no time and is no retry, and those behind it stay in line.
func TestLine(t *testing.T) {
	seq, at := uint64(0), job.Time(0)
	j := New(Info{ID: "b-1", Spans: NewSpans()})
	apply := func(r event.Record) {
		seq, at = seq+1, at.Add(time.Second)
		j.Apply(event.Entry{Seq: seq, At: at, Record: r})
	}
	try := func(task, n int) job.Attempt { return job.Attempt{Job: "b-1", Task: task, N: n} }
	runs := func(when string, want ...int) {
		t.Helper()
		v, got := j.View(at), []int{}
		for _, r := range j.RunningAttempts() {
			got = append(got, r.Task)
		}
		counts := []int{v.TasksRunning, len(v.Running), v.Nodes[0].Running, v.Phases[0].Running}
		if n := len(want); !slices.Equal(got, want) || !slices.Equal(counts, []int{n, n, n, n}) {
			t.Errorf("%s: %v run, want %v; the view counts %v", when, got, want, counts)
		}
	}
	apply(event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 5, Terms: job.Terms{Attempts: 1, MaxFails: -1}}})
	for task := range 5 {
		apply(event.AttemptStarted{Attempt: try(task, 1), Node: "a1/0", Behind: task})
	}
	runs("when all were sent", 0)
	took := []job.PhaseStat{{Phase: job.PhaseFetch, Start: at.Add(-time.Millisecond), End: at}}
	apply(event.AttemptEnded{Attempt: try(2, 1), Outcome: event.Killed, Returned: true})
	runs("when one was given back", 0)
	apply(event.AttemptEnded{Attempt: try(0, 1), Outcome: event.Done, Stats: took})
	runs("when the first is done", 1)
	apply(event.AttemptEnded{Attempt: try(1, 1), Outcome: event.Done, Stats: took})
	runs("when the second is done", 3)
	apply(event.AttemptStarted{Attempt: try(2, 2), Node: "a1/0"})
	runs("when the one that was given back starts", 2, 3)
	if v := j.View(at); v.Retries != 0 || v.WastedS != 0 || len(j.info.Spans.Nodes["a1/0"].Lanes) != 2 {
		t.Errorf("%d retries, %g s wasted, %d attempts at the same time", v.Retries, v.WastedS, len(j.info.Spans.Nodes["a1/0"].Lanes))
	}
	apply(event.JobEnded{Job: "b-1", State: event.StateCancelled})
	runs("when the job is over")
}
