package ui

import (
	"slices"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestEnding: what can be done about a job that is over depends on what is left of it.
// The words for jobs that are not over are in package explain, and held by the scenarios of package engine.
func TestEnding(t *testing.T) {
	tests := map[string]struct {
		view report.JobView
		want []string
	}{
		"done": {report.JobView{Status: report.Status{State: "done", TasksTotal: 3, TasksDone: 3}}, []string{"it is done: 3 of 3 tasks"}},
		"cancelled": {report.JobView{Status: report.Status{ID: "mr-1", State: "cancelled", Kind: job.MapReduce, TasksTotal: 3, TasksDone: 2}, Reason: "by you"},
			[]string{"it was cancelled: by you", "1 task can go on: berth resume mr-1"}},
		"failed": {report.JobView{Status: report.Status{ID: "bag-1", State: "failed", Kind: job.Bag, TasksTotal: 2, TasksDone: 1, TasksFailed: 1}, Reason: "1 of 2 tasks failed"},
			[]string{"it failed: 1 of 2 tasks failed", "1 task that failed can run again: berth resume --failed bag-1"}},
	}
	for name, tt := range tests {
		if got := Ending(tt.view); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
