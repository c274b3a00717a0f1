package report

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestEtaSteadyBag runs a bag of equal tasks on four slots: from the first end on,
// the expected end is never further off than one task's duration.
func TestEtaSteadyBag(t *testing.T) {
	const tasks, slots, took = 100, 4, 10 * time.Second
	j := New(Info{ID: "b-1"})
	seq, now := uint64(0), job.Time(1e9)
	apply := func(r event.Record) {
		seq++
		j.Apply(event.Entry{Seq: seq, At: now, Record: r})
	}
	apply(event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: tasks, Terms: job.Terms{Attempts: 1}}})
	start := func(task int) {
		a := job.Attempt{Job: "b-1", Task: task, N: 1}
		apply(event.AttemptStarted{Attempt: a, Node: "a1/0"})
		apply(event.PhaseEntered{Attempt: a, Phase: job.PhaseCompute})
	}
	for task := range slots {
		start(task)
	}
	if v := j.View(now.Add(time.Second)); v.EtaS != nil {
		t.Errorf("an end is expected in %g s though no task has ended", *v.EtaS)
	}
	end := now.Add(took * tasks / slots)
	for wave := range tasks / slots {
		for s := range slots {
			began := now
			now = began.Add(took)
			apply(event.AttemptEnded{
				Attempt: job.Attempt{Job: "b-1", Task: wave*slots + s, N: 1}, Outcome: event.Done,
				Stats: []job.PhaseStat{{Phase: job.PhaseCompute, Start: began, End: now}},
			})
			now = began
		}
		now = now.Add(took)
		for s := range slots {
			if next := (wave+1)*slots + s; next < tasks {
				start(next)
			}
		}
		for _, later := range []time.Duration{0, took / 3, took * 9 / 10} {
			at := now.Add(later)
			if at >= end {
				break
			}
			v := j.View(at)
			if v.EtaS == nil {
				t.Fatalf("wave %d: no end is expected", wave)
			}
			if off := *v.EtaS - end.Sub(at).Seconds(); off > took.Seconds() || off < -took.Seconds() {
				t.Errorf("wave %d + %v: end expected in %g s, is in %v", wave, later, *v.EtaS, end.Sub(at))
			}
		}
	}
}

// TestEtaFromPrediction: while tasks tell nothing, the prediction's upper bound stands in.
func TestEtaFromPrediction(t *testing.T) {
	j := New(Info{ID: "b-1", Planned: Planned{Predicted: &Prediction{LowSeconds: 5, UpSeconds: 9}}})
	j.Apply(event.Entry{Seq: 1, At: 1e9, Record: event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 2, Terms: job.Terms{Attempts: 1}}}})
	j.Apply(event.Entry{Seq: 2, At: 2e9, Record: event.AttemptStarted{Attempt: job.Attempt{Job: "b-1", Task: 0, N: 1}}})
	for at, want := range map[job.Time]string{5e9: "6 prediction", 20e9: "unknown "} {
		v := j.View(at)
		got := "unknown "
		if v.EtaS != nil {
			got = fmt.Sprint(*v.EtaS, " ", v.EtaFrom)
		}
		if got != want {
			t.Errorf("at %d: got %q, want %q", at, got, want)
		}
	}
}

// TestOff: by how much the truth lies outside of a prediction.
func TestOff(t *testing.T) {
	p := Prediction{LowSeconds: 10, UpSeconds: 20}
	for actual, want := range map[float64]float64{15: 0, 10: 0, 20: 0, 30: 0.5, 5: -0.5} {
		if got := p.Off(actual); got != want {
			t.Errorf("off by %g for %g s, want %g", got, actual, want)
		}
	}
}

// BenchmarkApply measures the fold's cost and memory for a task.
func BenchmarkApply(b *testing.B) {
	for _, tasks := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint(tasks), func(b *testing.B) {
			b.ReportAllocs()
			j := New(Info{ID: "b-1"})
			j.Apply(event.Entry{Seq: 1, At: 1, Record: event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: tasks, Terms: job.Terms{Attempts: 1}}}})
			stats := []job.PhaseStat{{Phase: job.PhaseFetch}, {Phase: job.PhaseCompute, End: 1e6}, {Phase: job.PhaseStore}}
			for i := 0; b.Loop(); i++ {
				a := job.Attempt{Job: "b-1", Task: i % tasks, N: i/tasks + 1}
				at := job.Time(i)
				j.Apply(event.Entry{Seq: 2, At: at, Record: event.AttemptStarted{Attempt: a, Node: "a1/0"}})
				j.Apply(event.Entry{Seq: 3, At: at, Record: event.AttemptEnded{Attempt: a, Outcome: event.Done, Stats: stats}})
			}
		})
	}
}

// TestEtaOfRequestedNodes: nodes that were requested for the job count from their expected start on, unless they are
// overdue. 96 tasks of 10 s are left on 4 cores; 12 more come in 20 s, so 80 s are left and not 240 s. Durations are known to 1 %.
func TestEtaOfRequestedNodes(t *testing.T) {
	const began = job.Time(1000e9)
	now := began.Add(10 * time.Second)
	for name, c := range map[string]struct {
		start    job.Time // expected by the batch system; 0: unknown
		of       job.ID
		throttle int
		want     float64
	}{
		"soon":              {now.Add(20 * time.Second), "b-1", 0, 80},
		"a little late":     {now.Add(-20 * time.Second), "b-1", 0, 60},
		"overdue":           {now.Add(-2 * time.Minute), "b-1", 0, 240},
		"start unknown":     {0, "b-1", 0, 240},
		"after the end":     {now.Add(time.Hour), "b-1", 0, 240},
		"not long before":   {now.Add(238 * time.Second), "b-1", 0, 240},
		"of another job":    {now.Add(20 * time.Second), "b-2", 0, 240},
		"more than allowed": {now.Add(20 * time.Second), "b-1", 8, 130},
		"none allowed":      {now.Add(20 * time.Second), "b-1", 4, 240},
	} {
		j := New(Info{ID: "b-1"})
		seq := uint64(0)
		apply := func(at job.Time, r event.Record) {
			seq++
			j.Apply(event.Entry{Seq: seq, At: at, Record: r})
		}
		request := func(nodes int, start job.Time) job.AllocRequest {
			return job.AllocRequest{On: "slurm", Nodes: nodes, PerNode: job.Resources{CPUs: 2}, Elastic: true, Start: start}
		}
		apply(began, event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 100, Terms: job.Terms{Attempts: 1, Throttle: c.throttle}, Alloc: request(2, began)}})
		apply(began, event.AllocRequested{Alloc: "a1", Request: request(2, began), Job: "b-1"})
		apply(began, event.AllocBegan{Alloc: "a1"})
		apply(began, event.NodeJoined{Node: "a1/0"})
		apply(began, event.NodeJoined{Node: "a1/1"})
		for task := range 8 {
			a, at := job.Attempt{Job: "b-1", Task: task, N: 1}, began.Add(time.Duration(task/4)*10*time.Second)
			apply(at, event.AttemptStarted{Attempt: a, Node: job.NodeID(fmt.Sprintf("a1/%d", task%2))})
			apply(at, event.PhaseEntered{Attempt: a, Phase: job.PhaseCompute})
			if task < 4 {
				apply(now, event.AttemptEnded{Attempt: a, Outcome: event.Done, Stats: []job.PhaseStat{{Phase: job.PhaseCompute, Start: began, End: now}}})
			}
		}
		apply(now, event.AllocRequested{Alloc: "a2", Request: request(6, c.start), Job: c.of})
		if v := j.View(now); v.EtaS == nil || math.Abs(*v.EtaS-c.want) > c.want/100 {
			t.Errorf("%s: the end is expected in %v s, want %g", name, v.EtaS, c.want)
		}
	}
}

// TestEtaUnseenPhase: of reduces that end before anybody hears that they came to
// their last phase, the rate of ends tells when all will be over.
func TestEtaUnseenPhase(t *testing.T) {
	const reduces = 100
	j := New(Info{ID: "mr-1", Planned: Planned{Predicted: &Prediction{LowSeconds: 500, UpSeconds: 900}}})
	seq := uint64(0)
	apply := func(at job.Time, r event.Record) {
		seq++
		j.Apply(event.Entry{Seq: seq, At: at, Record: r})
	}
	try := func(task int) job.Attempt { return job.Attempt{Job: "mr-1", Task: task, N: 1} }
	now := job.Time(1e9)
	apply(now, event.JobSubmitted{Work: job.Work{ID: "mr-1", Kind: job.MapReduce, Tasks: 1, Reduces: reduces, Terms: job.Terms{Attempts: 1, ReduceAttempts: 1}}})
	apply(now, event.AttemptStarted{Attempt: try(0), Node: "a1/0"})
	apply(now, event.AttemptEnded{Attempt: try(0), Outcome: event.Done})
	const done = 20
	for i := 1; i <= done; i++ {
		apply(now, event.AttemptStarted{Attempt: try(i), Node: "a1/0"})
		end := now.Add(time.Second)
		apply(end, event.AttemptEnded{Attempt: try(i), Outcome: event.Done, Stats: []job.PhaseStat{
			{Phase: job.PhaseShuffle, Start: now, End: now}, {Phase: job.PhaseSort, Start: now, End: now}, {Phase: job.PhaseReduce, Start: now, End: end}}})
		now = end
	}
	apply(now, event.AttemptStarted{Attempt: try(done + 1), Node: "a1/0"})
	v := j.View(now)
	if want := float64(reduces - done); v.EtaS == nil || *v.EtaS != want || v.EtaFrom != EtaFromRate {
		t.Errorf("the end is expected in %v by %q, want %g by the rate", v.EtaS, v.EtaFrom, want)
	}
}

// TestEtaOfDifferentNeeds: what is left counts by the cores and the GPUs that it needs, each task as long as those with its needs took. Ten small
// tasks of 10 s are left and one of 4 cores and 40 s, on 4 cores: 25 s and 40 s. The rate at which small tasks ended says nothing of the large one.
func TestEtaOfDifferentNeeds(t *testing.T) {
	const began = job.Time(1000e9)
	j := New(Info{ID: "b-1"})
	seq := uint64(0)
	apply := func(at job.Time, r event.Record) {
		seq++
		j.Apply(event.Entry{Seq: seq, At: at, Record: r})
	}
	start := func(at job.Time, task int) job.Attempt {
		a := job.Attempt{Job: "b-1", Task: task, N: 1}
		apply(at, event.AttemptStarted{Attempt: a, Node: "a1/0"})
		apply(at, event.PhaseEntered{Attempt: a, Phase: job.PhaseCompute})
		return a
	}
	done := func(a job.Attempt, from, to job.Time) {
		apply(to, event.AttemptEnded{Attempt: a, Outcome: event.Done, Stats: []job.PhaseStat{{Phase: job.PhaseCompute, Start: from, End: to}}})
	}
	apply(began, event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 60, Terms: job.Terms{Attempts: 1, Need: job.Resources{CPUs: 1}},
		Further: []job.Needs{{CPUs: 4}}, Which: []job.NeedsRun{{Tasks: 2, Index: 1}}}})
	apply(began, event.AllocRequested{Alloc: "a1", Request: job.AllocRequest{On: "local", Nodes: 1, PerNode: job.Resources{CPUs: 4}}})
	apply(began, event.NodeJoined{Node: "a1/0"})
	now := began.Add(40 * time.Second)
	done(start(began, 0), began, now)
	for task := 2; task < 46; task += 4 {
		from := now
		now = now.Add(10 * time.Second)
		for i := range 4 {
			done(start(from, task+i), from, now)
		}
	}
	for task := 46; task < 50; task++ {
		start(now, task)
	}
	if v := j.View(now); v.EtaS == nil || *v.EtaS < 70 || *v.EtaS > 91 {
		t.Errorf("the end is expected in %v s, want 10 for those that run, 30 and 40", v.EtaS)
	}
}

// TestEtaBeforeTheTask: of a bag with different needs attempts that fetch their files have an end, too, whatever they need.
func TestEtaBeforeTheTask(t *testing.T) {
	const began = job.Time(1000e9)
	j := New(Info{ID: "b-1"})
	for i, r := range []event.Record{
		event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 6, Terms: job.Terms{Attempts: 1, Need: job.Resources{CPUs: 1}},
			Further: []job.Needs{{CPUs: 4}}, Which: []job.NeedsRun{{Tasks: 3, Index: 1}}}},
		event.AllocRequested{Alloc: "a1", Request: job.AllocRequest{On: "local", Nodes: 1, PerNode: job.Resources{CPUs: 4}}},
		event.NodeJoined{Node: "a1/0"},
		event.AttemptStarted{Attempt: job.Attempt{Job: "b-1", Task: 0, N: 1}, Node: "a1/0"},
		event.AttemptEnded{Attempt: job.Attempt{Job: "b-1", Task: 0, N: 1}, Outcome: event.Done, Stats: []job.PhaseStat{
			{Phase: job.PhaseFetch, Start: began, End: began.Add(time.Second)}, {Phase: job.PhaseCompute, Start: began.Add(time.Second), End: began.Add(5 * time.Second)}}},
		event.AttemptStarted{Attempt: job.Attempt{Job: "b-1", Task: 1, N: 1}, Node: "a1/0"},
		event.AttemptStarted{Attempt: job.Attempt{Job: "b-1", Task: 4, N: 1}, Node: "a1/0"},
	} {
		j.Apply(event.Entry{Seq: uint64(i + 1), At: began, Record: r})
	}
	if v := j.View(began.Add(6 * time.Second)); len(v.Phases) == 0 {
		t.Errorf("%+v", v)
	}
}

// TestEtaWithNothingRunning: 59 of 80 tasks are done, and the next allocation has begun without a node: the end is not expected at once, and the
// view says what the job waits for.
func TestEtaWithNothingRunning(t *testing.T) {
	nodes := NewNodes()
	j := New(Info{ID: "b-1", Nodes: nodes})
	seq, now := uint64(0), job.Time(1e9)
	apply := func(r event.Record) {
		seq++
		e := event.Entry{Seq: seq, At: now, Record: r}
		nodes.Apply(e)
		j.Apply(e)
	}
	request := job.AllocRequest{On: "slurm", Nodes: 2, Elastic: true}
	apply(event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 80, Alloc: request, Terms: job.Terms{Attempts: 1}}})
	apply(event.AllocRequested{Alloc: "a1", Job: "b-1", Request: request})
	apply(event.AllocBegan{Alloc: "a1"})
	apply(event.NodeJoined{Node: "a1/0"})
	for task := range 59 {
		a := job.Attempt{Job: "b-1", Task: task, N: 1}
		began := now
		apply(event.AttemptStarted{Attempt: a, Node: "a1/0"})
		now = now.Add(time.Second)
		apply(event.AttemptEnded{Attempt: a, Outcome: event.Done, Stats: []job.PhaseStat{{Phase: job.PhaseCompute, Start: began, End: now}}})
	}
	if v := j.View(now); v.EtaS == nil || *v.EtaS < 15 || *v.EtaS > 30 || v.Waits != nil {
		t.Errorf("while tasks end: ETA %v, waits for %+v", v.EtaS, v.Waits)
	}
	apply(event.AllocRequested{Alloc: "a2", Job: "b-1", Request: request})
	apply(event.AllocEnded{Alloc: "a1"})
	apply(event.AllocBegan{Alloc: "a2"})
	v := j.View(now.Add(90 * time.Second))
	if v.State != event.StateRunning || v.EtaS != nil {
		t.Errorf("%s with nothing running: ETA %v", v.State, v.EtaS)
	}
	if v.Waits == nil || v.Waits.Nodes != 2 || v.Waits.Note != notReady {
		t.Errorf("it waits for %+v", v.Waits)
	}
	j.info.Nodes.ApplyNote("a2", "its output says: no step", 0, false) // that is not told only by explain
	if v := j.View(now.Add(90 * time.Second)); v.Waits == nil || v.Waits.Note != notReady+": its output says: no step" {
		t.Errorf("it waits for %+v", v.Waits)
	}
	apply(event.NodeJoined{Node: "a2/0"})
	if v := j.View(now.Add(91 * time.Second)); v.Waits != nil {
		t.Errorf("with a node it waits for %+v", v.Waits)
	}
}

// TestEtaWithinLimits: whatever running attempts report, a bag is expected to end no later than time limits allow: those of what runs, and then of
// the waves that are left.
func TestEtaWithinLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots, tasks, limit := rapid.IntRange(1, 4).Draw(t, "slots"), rapid.IntRange(1, 30).Draw(t, "tasks"), rapid.IntRange(1, 60).Draw(t, "limit")
		j, now, seq := New(Info{ID: "b-1"}), job.Time(1e9), uint64(0)
		apply := func(r event.Record) {
			seq++
			j.Apply(event.Entry{Seq: seq, At: now, Record: r})
		}
		apply(event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: tasks, Terms: job.Terms{Attempts: 1, TimeLimit: time.Duration(limit) * time.Second}}})
		began, next, left := map[int]job.Time{}, 0, tasks
		for left > 0 {
			for ; len(began) < slots && next < tasks; next++ {
				a := job.Attempt{Job: "b-1", Task: next, N: 1}
				apply(event.AttemptStarted{Attempt: a, Node: "a1/0"})
				apply(event.PhaseEntered{Attempt: a, Phase: job.PhaseCompute})
				began[next] = now
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			rest := 0.0
			for task := range next {
				at, runs := began[task]
				if !runs {
					continue
				}
				a, age := job.Attempt{Job: "b-1", Task: task, N: 1}, now.Sub(at)
				if age.Seconds() >= float64(limit) || rapid.IntRange(0, 4).Draw(t, "ends") == 0 {
					end := min(now, at.Add(time.Duration(limit)*time.Second))
					apply(event.AttemptEnded{Attempt: a, Outcome: event.Done, Stats: []job.PhaseStat{{Phase: job.PhaseCompute, Start: at, End: end}}})
					delete(began, task)
					left--
					continue
				}
				if rapid.Bool().Draw(t, "reports") {
					j.ApplyEnd(a, now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "expected"))*time.Second))
				}
				rest = max(rest, float64(limit)-age.Seconds())
			}
			if v := j.View(now); v.EtaS != nil && len(began) > 0 {
				if most := rest + float64((tasks-next+len(began)-1)/len(began)*limit); *v.EtaS > most+0.001 {
					t.Fatalf("%v: %d tasks of at most %d s are left and %d run, but the end is expected in %g s, not within %g s", now, tasks-next, limit, len(began), *v.EtaS, most)
				}
			}
		}
	})
}

// TestEtaAtLimit: a task that is expected to take longer than it may is told with the expected end.
func TestEtaAtLimit(t *testing.T) {
	j, a, other := New(Info{ID: "b-1"}), job.Attempt{Job: "b-1", N: 1}, job.Attempt{Job: "b-1", Task: 1, N: 1}
	for i, r := range []event.Record{
		event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 2, Terms: job.Terms{Attempts: 1, TimeLimit: 30 * time.Second}}},
		event.AttemptStarted{Attempt: a, Node: "a1/0"}, event.PhaseEntered{Attempt: a, Phase: job.PhaseCompute},
		event.AttemptStarted{Attempt: other, Node: "a1/0"}, event.PhaseEntered{Attempt: other, Phase: job.PhaseCompute},
		event.AttemptEnded{Attempt: other, Outcome: event.Done, Stats: []job.PhaseStat{{Phase: job.PhaseCompute, Start: 1e9, End: 2e9}}},
	} {
		j.Apply(event.Entry{Seq: uint64(i + 1), At: 1e9, Record: r})
	}
	j.ApplyEnd(a, job.Time(1e9).Add(time.Hour))
	for at, want := range map[time.Duration]float64{10 * time.Second: 20, 40 * time.Second: 0} {
		if v := j.View(job.Time(1e9).Add(at)); v.EtaS == nil || *v.EtaS != want || v.EtaAtLimit != 1 {
			t.Errorf("after %v: ETA %v, %d at the limit", at, v.EtaS, v.EtaAtLimit)
		}
	}
}
