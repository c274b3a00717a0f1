package sched

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestDueFirst: a job with a deadline goes before all without one, whatever the order, and among those the earliest deadline is first.
func TestDueFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SampledFrom([]Order{FIFO, Shortest}).Draw(t, "order")
		p := Cores.Pool(order, true, AgeingShare)
		p.Cores, p.Scale = rapid.IntRange(1, 1000).Draw(t, "cores"), 1
		draw := func(name string) *Job {
			j := &Job{Released: job.Time(rapid.Int64Range(0, 1<<61).Draw(t, name+" released")), Weight: 1}
			j.By = []*Tasks{NewTasks(j, job.BagTask)}
			j.By[0].Left.Tasks = rapid.IntRange(0, 1_000_000).Draw(t, name+" tasks")
			return j
		}
		due, later, without := draw("first"), draw("second"), draw("third")
		due.Due = job.Time(rapid.Int64Range(1, 1<<61).Draw(t, "due"))
		later.Due = due.Due.Add(time.Duration(rapid.Int64Range(1, 1<<40).Draw(t, "later")))
		a, b, c := p.Rank(due), p.Rank(later), p.Rank(without)
		if !(a < b && b < c) {
			t.Fatalf("ranks %d, %d, and without a deadline %d", a, b, c)
		}
		if due.LatestStart(p.Cores) > due.Due {
			t.Fatal("it may start after its deadline")
		}
	})
}
