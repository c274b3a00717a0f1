package replay

import (
	"slices"
	"testing"

	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

// TestRun: a job ends after its run time, or is killed at its limit, and one that fits overtakes another with backfilling.
func TestRun(t *testing.T) {
	jobs := []workload.Rigid{
		{Submit: 0, Nodes: 2, Run: 10, Request: 20}, {Submit: 1, Nodes: 3, Run: 9, Request: 5}, {Submit: 2, Nodes: 1, Run: 8, Request: 8},
	}
	for policy, want := range map[batch.Policy][]job.Time{batch.FCFS: {0, 10, 15}, batch.EASY: {0, 10, 2}, batch.CBF: {0, 10, 2}} {
		if got := Run(3, policy, jobs); !slices.Equal(got, want) {
			t.Errorf("%s: jobs start at %v, want %v", policy, got, want)
		}
	}
}
