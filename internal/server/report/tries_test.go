package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestTries: what was added of a task comes back, in the order of its attempts, and those of one number in the order in which they were added.
func TestTries(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var tries Tries
		want := map[int][]Try{}
		for range rapid.IntRange(0, 40).Draw(r, "attempts") {
			of := job.Attempt{Task: rapid.IntRange(0, 5).Draw(r, "task"), N: rapid.IntRange(1, 3).Draw(r, "attempt")}
			kind := Try{Node: rapid.SampledFrom([]string{"a1/0", "a2/0"}).Draw(r, "node"), Outcome: rapid.SampledFrom([]string{"done", "lost", ""}).Draw(r, "outcome")}
			mem, peak := rapid.Int64Min(0).Draw(r, "mem"), rapid.Int64Min(0).Draw(r, "peak")
			started, us := job.Time(rapid.Int64Range(0, 2e18).Draw(r, "started")), rapid.Int64Range(0, 1e13).Draw(r, "µs")
			tries.add(of, kind, mem, started, float64(us)/1e6, peak)
			kind.Attempt, kind.Mem, kind.Started, kind.Seconds, kind.PeakMem = of.N, mem, started.Std(), float64(us)/1e6, peak
			want[of.Task] = append(want[of.Task], kind)
		}
		for task := range 8 {
			slices.SortStableFunc(want[task], func(a, b Try) int { return cmp.Compare(a.Attempt, b.Attempt) })
			if got := tries.of(task); got == nil || len(got)+len(want[task]) > 0 && !reflect.DeepEqual(got, want[task]) {
				r.Fatalf("of task %d come %v, want %v", task, got, want[task])
			}
		}
	})
}

// TestTriesAreSmall: a hundred thousand attempts take some twenty bytes each, and none gets lost where one piece ends and the next begins.
func TestTriesAreSmall(t *testing.T) {
	const n, most = 100_000, 32
	var tries Tries
	for i := range n {
		tries.add(job.Attempt{Task: i, N: 1}, Try{Node: "a1/0", Host: "n1", Outcome: "done"}, 1<<30, job.Time(1.7e18+float64(i)*1e6), 12.345678, 123456789)
	}
	for i := range n {
		if got := tries.of(i); len(got) != 1 || got[0].PeakMem != 123456789 || got[0].Seconds != 12.345678 {
			t.Fatal(fmt.Sprint(i, got))
		}
	}
	if bytes := len(tries.pieces)*pieceSize + 4*len(tries.last); bytes > n*most+pieceSize {
		t.Errorf("%d attempts take %d bytes", n, bytes)
	}
}
