package straggler_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/lab/loads"
)

// reporter is an attempt whose progress is measured each second and reported each two, each at instants of its own, and late.
type reporter struct {
	began, took     time.Duration
	measured, tells time.Duration // phases
	late            []time.Duration
	reports         int // that have arrived
	slower          float64
	track           straggler.Track
}

func drawReporter(t *rapid.T, took time.Duration) *reporter {
	millis := func(most int, what string) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, what)) * time.Millisecond
	}
	r := &reporter{began: millis(5000, "begins"), took: took, measured: millis(999, "measured"), tells: millis(1999, "tells"), slower: 1}
	for range rapid.IntRange(1, 5).Draw(t, "delays") {
		r.late = append(r.late, millis(4000, "late"))
	}
	return r
}

// hear adds what has arrived by an instant.
func (r *reporter) hear(now time.Duration, pace func(age time.Duration) float64) {
	for ; ; r.reports++ {
		told := r.began + r.tells + time.Duration(r.reports)*2*time.Second
		if told+r.late[r.reports%len(r.late)] > now {
			return
		}
		if age := (told - r.began - r.measured).Truncate(time.Second) + r.measured; age > 0 && told-r.began >= r.measured {
			r.track.Add(age, job.Progress{Source: job.ProgressHits, N: pace(time.Duration(float64(age) / r.slower)), Fraction: -1})
		}
	}
}

// acts plays a job and returns the first action of the rule, and when that was.
func acts(rule straggler.Rule, of []*reporter, pace func(age time.Duration) float64) (found *straggler.Verdict, at time.Duration) {
	for now := straggler.Interval; ; now += straggler.Interval {
		v := &straggler.View{Now: job.Time(now), Interval: straggler.Interval, Past: &straggler.Past{}, Left: len(of), Slots: 2 * len(of), Cores: 1, Duplicate: true, Abort: true,
			Mean: of[0].took, Budget: time.Hour, FreeSlots: []straggler.FreeSlot{{Node: "z", Count: len(of)}}}
		for i, r := range of {
			if now >= r.began && now < r.began+time.Duration(float64(r.took)*r.slower) {
				r.hear(now, pace)
				v.Running = append(v.Running, straggler.Running{Attempt: job.Attempt{Job: "bag-1", Task: i, N: 1}, Node: job.NodeID(rune('a' + i)), Began: job.Time(r.began), Track: &r.track})
			}
		}
		if len(v.Running) == 0 && now > 5*time.Second {
			return nil, 0
		}
		for _, d := range rule.Assess(v) {
			if d.Act != straggler.Keep {
				return &d, now
			}
		}
	}
}

// bursts makes a pace that counts only at the end of each step of time.
func bursts(p loads.Pace, took, step time.Duration) func(time.Duration) float64 {
	return func(age time.Duration) float64 {
		return p.At(math.Min(age.Truncate(step).Seconds()/took.Seconds(), 1))
	}
}

// TestEqualTasksStayEqual: whenever attempts of equal tasks begin, are measured and report, and however unevenly they count, no rule of
// the paper takes one of them for an outlier, with whatever threshold.
func TestEqualTasksStayEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := app(t)
		took := time.Duration(rapid.IntRange(10, 400).Draw(t, "took")) * time.Second
		pace := bursts(loads.Pace{Bends: a.Bends, Counts: a.Counts}, took, time.Duration(rapid.IntRange(1, 10000).Draw(t, "step"))*time.Millisecond)
		n := rapid.IntRange(2, 12).Draw(t, "tasks")
		for _, rule := range []straggler.Rule{straggler.Paper{T: 0.001}, straggler.Paper{T: 0.001, Aborting: true}} {
			var of []*reporter
			for range n {
				of = append(of, drawReporter(t, took))
			}
			if d, at := acts(rule, of, pace); d != nil {
				t.Fatalf("%s: %v of %v after %v: %s", rule.Name(), d.Act, d.Attempt, at, d.Why)
			}
		}
	})
}

// TestSlowTaskIsFound: where tasks count evenly, the paper's rule finds one that is slower from its start, whatever the phases are.
func TestSlowTaskIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		took := time.Duration(rapid.IntRange(60, 400).Draw(t, "took")) * time.Second
		pace := func(age time.Duration) float64 { return 1000 * age.Seconds() }
		var of []*reporter
		for range rapid.IntRange(4, 12).Draw(t, "tasks") {
			of = append(of, drawReporter(t, took))
		}
		of[0].slower = rapid.Float64Range(1.5, 4).Draw(t, "slower")
		d, at := acts(straggler.Paper{T: 0.1}, of, pace)
		if d == nil || d.Attempt.Task != 0 || at > took {
			t.Fatalf("%g times slower: %+v after %v of %v", of[0].slower, d, at, took)
		}
	})
}
