package metrics_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/lab/metrics"
)

const second = job.Time(time.Second)

type schedule struct {
	submit, start, end job.Time
	nodes              int
}

func TestSummary(t *testing.T) {
	tests := []struct {
		name  string
		nodes int
		jobs  []schedule
		want  metrics.Summary
	}{
		{"none", 4, nil, metrics.Summary{}},
		{"one that does not wait", 4, []schedule{{5 * second, 5 * second, 25 * second, 2}},
			metrics.Summary{Jobs: 1, MeanTurnaround: 20, AveBSLD: 1, Makespan: 20, NodeSeconds: 40, Utilization: 0.5}},
		// Bounded slowdown of the second job, with 1 s bounded by 10 s: (90+1)/10.
		{"a short one that waits", 1, []schedule{{0, 0, 90 * second, 1}, {0, 90 * second, 91 * second, 1}},
			metrics.Summary{Jobs: 2, MeanWait: 45, MeanTurnaround: 90.5, AveBSLD: (1 + 9.1) / 2, Makespan: 91, NodeSeconds: 91, Utilization: 1}},
		{"a short one in less than the bound", 1, []schedule{{0, second, 2 * second, 1}},
			metrics.Summary{Jobs: 1, MeanWait: 1, MeanTurnaround: 2, AveBSLD: 1, Makespan: 2, NodeSeconds: 1, Utilization: 0.5}},
		{"one of no time", 1, []schedule{{7, 7, 7, 1}}, metrics.Summary{Jobs: 1, AveBSLD: 1}},
	}
	for _, test := range tests {
		var m metrics.Meter
		for _, j := range test.jobs {
			m.Add(j.submit, j.start, j.end, j.nodes)
		}
		if got := m.Summary(test.nodes); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestLongSums checks sums of durations that exceed the range of time.Duration.
func TestLongSums(t *testing.T) {
	var m metrics.Meter
	const years = 100 * 365 * 24 * 3600
	for range 1000 {
		m.Add(0, years*second+500_000_000, years*second+500_000_001, 1_000_000)
	}
	s := m.Summary(1_000_000)
	if s.MeanWait != years+0.5 || s.NodeSeconds != 1 {
		t.Errorf("mean wait %v, node-seconds %v", s.MeanWait, s.NodeSeconds)
	}
}

// TestOrderDoesNotMatter checks that the sums are the same for any order of the jobs, and equal the
// sums of floats.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) schedule {
			submit := job.Time(rapid.Int64Range(0, 1e15).Draw(t, "submit"))
			start := submit + job.Time(rapid.Int64Range(0, 1e15).Draw(t, "wait"))
			return schedule{submit, start, start + job.Time(rapid.Int64Range(0, 1e15).Draw(t, "run")), rapid.IntRange(1, 1000).Draw(t, "nodes")}
		}), 1, 50).Draw(t, "jobs")
		var there, back metrics.Meter
		wait, held := 0.0, 0.0
		for i, j := range jobs {
			there.Add(j.submit, j.start, j.end, j.nodes)
			b := jobs[len(jobs)-1-i]
			back.Add(b.submit, b.start, b.end, b.nodes)
			wait += j.start.Sub(j.submit).Seconds()
			held += j.end.Sub(j.start).Seconds() * float64(j.nodes)
		}
		a, b := there.Summary(1000), back.Summary(1000)
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(math.Abs(x), 1) }
		if !near(a.MeanWait, wait/float64(len(jobs))) || !near(a.NodeSeconds, held) || !near(a.AveBSLD, b.AveBSLD) {
			t.Fatalf("%+v; waits %v, node-seconds %v", a, wait, held)
		}
		if a.AveBSLD = b.AveBSLD; a != b {
			t.Fatalf("forth %+v, back %+v", a, b)
		}
	})
}
