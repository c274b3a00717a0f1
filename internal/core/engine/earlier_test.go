package engine_test

import (
	"testing"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/internal/core/step"
)

// shown is a rule that stores its last View.
type shown struct{ last *straggler.View }

func (shown) Name() string { return "shown" }

func (s *shown) Assess(v *straggler.View) []straggler.Verdict {
	s.last = v
	return nil
}

// TestCurvesOfEarlierRuns: the first View has the curves that came with the job, only those of the task's kind; so has
// the first View of an engine that replays the records.
func TestCurvesOfEarlierRuns(t *testing.T) {
	var records []event.Record
	rule := &shown{}
	e := engine.New(engine.Config{Rule: rule})
	now := job.Time(time.Second)
	var began job.Attempt
	send := func(in step.Input) {
		out, err := e.Step(now, in)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, out.Records...)
		for _, r := range out.Records {
			if r, ok := r.(event.AttemptStarted); ok {
				began = r.Attempt
			}
		}
	}
	look := func() {
		for range 5 {
			now = now.Add(time.Second)
			send(step.Progress{Node: "a1/0", Of: []job.Progress{{Attempt: began, Source: job.ProgressCPU, N: now.Sub(0).Seconds(), Fraction: -1}}})
			send(step.Tick{})
		}
		if rule.last == nil || len(rule.last.Past.Earlier) != 1 || rule.last.Past.Earlier[0].Source != job.ProgressCPU || rule.last.Past.Earlier[0].End().N != 40 {
			t.Fatalf("the rule is shown %+v", rule.last)
		}
		rule.last = nil
	}
	marks := []float64{0, 0, 0, 10, 11, 9, 20, 22, 18, 30, 40, 27}
	w := job.Work{ID: "mr-1", Kind: job.MapReduce, Tasks: 2, Alloc: job.AllocRequest{On: "local", Nodes: 1, PerNode: job.Resources{CPUs: 1}},
		Curves: []job.Curve{{Kind: job.MapTask, Source: job.ProgressCPU, Marks: marks}, {Kind: job.ReduceTask, Source: job.ProgressCPU, Marks: marks}}}
	w.Need, w.Attempts = job.Resources{CPUs: 1}, 1
	send(step.Submit{Work: w})
	send(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Capacity: job.Resources{CPUs: 1, Mem: 1 << 30}}})
	look()
	e = engine.New(engine.Config{Rule: rule})
	for i, r := range records {
		e.Replay(event.Entry{Seq: uint64(i + 1), At: now, Record: r})
	}
	e.Recover(now)
	send(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Capacity: job.Resources{CPUs: 1, Mem: 1 << 30}}, Running: []job.Attempt{began}})
	look()
}
