package ui

import (
	"slices"
	"testing"

	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestEnding: what can be done about a job that is over depends on what is left of it.
// The words for jobs that are not over are held by the scenarios of package engine.
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

// TestPhaseWaits: the reason of a waiting phase names the scarce resources of its node and their users.
func TestPhaseWaits(t *testing.T) {
	on := []explain.Node{{ID: "a1/0"}}
	tests := map[string]struct {
		reason explain.Reason
		want   string
	}{
		"disk": {explain.Reason{Count: 3, Phase: job.PhaseMerge, Shortages: []explain.Shortage{{Resource: job.Disk, Need: 50 << 20, Free: 10 << 20, Holders: []explain.Holder{
			{Job: "mr-7", Phase: job.PhaseMerge, Count: 2, Holds: 60 << 20}, {Job: "mr-9", Phase: job.PhaseSort, Count: 1, Holds: 30 << 20}}}}},
			"3 maps wait to merge on a1/0: its disk is in use by 2 merges of mr-7 and 1 sort of mr-9 (50M/s needed for each, 10M/s free)"},
		"cores, its own tasks too": {explain.Reason{Count: 1, Phase: job.PhaseCompute, Shortages: []explain.Shortage{{Resource: job.CPU, Need: 1000, Free: 250, Holders: []explain.Holder{
			{Phase: job.PhaseCompute, Count: 1, Holds: 2000}, {Job: "mr-7", Phase: job.PhaseMap, Count: 1, Holds: 1000}, {Job: "mr-9", Phase: job.PhaseReduce, Count: 1, Holds: 750}}}}},
			"1 task waits to compute on a1/0: its cores are in use by 1 computing task of this job, 1 map of mr-7 and 1 reduce of mr-9 (1 core needed for each, 0.25 cores free)"},
		"memory of attempts that wait, and the network": {explain.Reason{Count: 2, Phase: job.PhaseShuffle, Shortages: []explain.Shortage{
			{Resource: job.Memory, Need: 1 << 30, Free: -1, Holders: []explain.Holder{{Job: "mr-7", Phase: job.PhaseSort, Count: 1, Holds: 1 << 30, Waits: true}}},
			{Resource: job.Net, Need: 100 << 20, Free: 20 << 20}}},
			"2 reduces wait to shuffle on a1/0: its memory is in use by 1 reduce of mr-7 that waits to sort (1G needed for each, 0B free); its network has too little free (100M/s needed for each, 20M/s free)"},
		"many who hold it": {explain.Reason{Count: 1, Phase: job.PhaseReduce, Shortages: []explain.Shortage{{Resource: job.CPU, Need: 1500, Holders: []explain.Holder{
			{Job: "a", Phase: job.PhaseMap, Count: 1}, {Job: "b", Phase: job.PhaseMap, Count: 1}, {Job: "c", Phase: job.PhaseMap, Count: 1}, {Job: "d", Phase: job.PhaseMap, Count: 1},
			{Job: "e", Phase: job.PhaseMap, Count: 1}, {Job: "f", Phase: job.PhaseMap, Count: 1}}}}},
			"1 reduce waits to reduce on a1/0: its cores are in use by 1 map of a, 1 map of b, 1 map of c, 1 map of d and 2 more groups of attempts (1.5 cores needed for each, 0 cores free)"},
		"nothing lacks": {explain.Reason{Count: 1, Phase: job.PhaseSort}, "1 reduce waits to sort on a1/0"},
	}
	for name, tt := range tests {
		tt.reason.Kind, tt.reason.Nodes = explain.PhaseWaits, on
		if got := Reasons([]explain.Reason{tt.reason}); got[0] != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got[0], tt.want)
		}
	}
	if got := Reasons([]explain.Reason{{Kind: explain.FairerJobs, Jobs: []job.ID{"mr-1", "mr-2"}}}); got[0] != "2 jobs with less of a fair share go first: mr-1, mr-2" {
		t.Error(got)
	}
}
