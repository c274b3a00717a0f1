package coordinator

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/leader"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
)

// TestCountersOfARound: attempts whose ends come in one round of the loop count together. The
// second of two maps was let pass, the reduce committed its part, and the job failed only then.
func TestCountersOfARound(t *testing.T) {
	s := newServer(options(t), leader.Choice{}, func() {})
	spec := &job.Spec{ID: "mr-1", Kind: job.MapReduce, MapReduce: &job.MapReduceSpec{}}
	s.jobs[spec.ID] = &live{run: s.home.Run(spec.ID), assignment: assignment{Decided: &rundir.Decided{Spec: spec}}, report: report.New(report.Info{ID: spec.ID, Kind: spec.Kind})}
	ended := func(task int) event.AttemptEnded {
		counters := map[string]int64{}
		for i := range spec.MapReduce.CounterLimits().Counters * 3 / 5 {
			counters[fmt.Sprintf("g,%d-%d", task, i)] = 1
		}
		return event.AttemptEnded{Attempt: job.Attempt{Job: spec.ID, Task: task, N: 1}, Outcome: event.Done, Counters: counters}
	}
	first := s.bounded(ended(0))
	if first.Outcome != event.Done {
		t.Fatalf("the first map is %v: %s", first.Outcome, first.Reason)
	}
	s.round.records = append(s.round.records, first)
	if second := s.bounded(ended(1)); second.Outcome != event.Broken || !strings.Contains(second.Reason, "1200 counters, more than 1000") {
		t.Errorf("the second map is %v: %s", second.Outcome, second.Reason)
	}
}
