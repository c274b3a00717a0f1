package engine_test

import (
	"testing"

	"berth/internal/core/engine"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// TestLimitsOneByOne: where all limits were lost, as their file cannot be read, those that a job needs are set one by one, and then none is removed.
func TestLimitsOneByOne(t *testing.T) {
	e := engine.New(engine.Config{Limits: map[string]int{"x": 1, "y": 1}})
	w := job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 1, Alloc: job.AllocRequest{On: "local", Nodes: 1, PerNode: job.Resources{CPUs: 1}}}
	w.Need.CPUs, w.Attempts, w.Uses = 1, 1, "x=1,y=1"
	set := func(in step.Input) error {
		_, err := e.Step(1, in)
		return err
	}
	if err := set(step.Submit{Work: w}); err != nil {
		t.Fatal(err)
	}
	e.SetLimits(nil)
	for _, limits := range []map[string]int{{"x": 1}, {"x": 1, "y": 1}} {
		if err := set(step.SetLimits{Limits: limits}); err != nil {
			t.Error(err)
		}
	}
	if err := set(step.SetLimits{Limits: map[string]int{"y": 1}}); err == nil {
		t.Error("a limit that a job needs was removed")
	}
}
