package explain_test

import (
	"testing"
	"time"

	"berth/internal/core/explain"
	"berth/internal/core/job"
)

// TestPhaseWaits: the reason of a waiting phase names the scarce resources of its node and their users.
func TestPhaseWaits(t *testing.T) {
	tests := map[string]struct {
		count int
		phase job.Phase
		lacks []explain.Shortage
		want  string
	}{
		"disk": {3, job.PhaseMerge, []explain.Shortage{{Resource: job.Disk, Need: 50 << 20, Free: 10 << 20, Holders: []explain.Holder{
			{Job: "mr-7", Phase: job.PhaseMerge, Count: 2, Holds: 60 << 20}, {Job: "mr-9", Phase: job.PhaseSort, Count: 1, Holds: 30 << 20}}}},
			"3 maps wait to merge on a1/0: its disk is in use by 2 merges of mr-7 and 1 sort of mr-9 (50M/s needed for each, 10M/s free)"},
		"cores, its own tasks too": {1, job.PhaseCompute, []explain.Shortage{{Resource: job.CPU, Need: 1000, Free: 250, Holders: []explain.Holder{
			{Phase: job.PhaseCompute, Count: 1, Holds: 2000}, {Job: "mr-7", Phase: job.PhaseMap, Count: 1, Holds: 1000}, {Job: "mr-9", Phase: job.PhaseReduce, Count: 1, Holds: 750}}}},
			"1 task waits to compute on a1/0: its cores are in use by 1 computing task of this job, 1 map of mr-7 and 1 reduce of mr-9 (1 core needed for each, 0.25 cores free)"},
		"memory of attempts that wait, and the network": {2, job.PhaseShuffle, []explain.Shortage{
			{Resource: job.Memory, Need: 1 << 30, Free: -1, Holders: []explain.Holder{{Job: "mr-7", Phase: job.PhaseSort, Count: 1, Holds: 1 << 30, Waits: true}}},
			{Resource: job.Net, Need: 100 << 20, Free: 20 << 20}},
			"2 reduces wait to shuffle on a1/0: its memory is in use by 1 reduce of mr-7 that waits to sort (1G needed for each, 0B free); its network has too little free (100M/s needed for each, 20M/s free)"},
		"many who hold it": {1, job.PhaseReduce, []explain.Shortage{{Resource: job.CPU, Need: 1500, Holders: []explain.Holder{
			{Job: "a", Phase: job.PhaseMap, Count: 1}, {Job: "b", Phase: job.PhaseMap, Count: 1}, {Job: "c", Phase: job.PhaseMap, Count: 1}, {Job: "d", Phase: job.PhaseMap, Count: 1},
			{Job: "e", Phase: job.PhaseMap, Count: 1}, {Job: "f", Phase: job.PhaseMap, Count: 1}}}},
			"1 reduce waits to reduce on a1/0: its cores are in use by 1 map of a, 1 map of b, 1 map of c, 1 map of d and 2 more groups of attempts (1.5 cores needed for each, 0 cores free)"},
		"nothing lacks": {1, job.PhaseSort, nil, "1 reduce waits to sort on a1/0"},
	}
	for name, tt := range tests {
		if got := explain.Waits(tt.count, tt.phase, "a1/0", tt.lacks); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

// TestValues: each kind of value has its words, and a part that does not apply has none.
func TestValues(t *testing.T) {
	got := explain.With("%s, %s, %s, %s, %s%s", 1234, int64(3<<20), 90*time.Second+time.Millisecond, job.Resources{CPUs: 1, Mem: 1 << 30},
		explain.Few([]job.ID{"a", "b", "c", "d", "e"}), explain.If(" for %s", false, time.Second))
	if want := "1,234, 3M, 1m30s, 1 core and 1G, a, b, c, d and 1 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for n, want := range map[int]string{1: "1 map waits", 2: "2 maps wait"} {
		if got := explain.Do(n, "map", "wait"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
