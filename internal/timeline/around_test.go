package timeline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/job"
)

// TestAround compares what is about a stretch, and since when so many nodes are free, with the
// array.
func TestAround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		span := rapid.SampledFrom([]int{5, 60, 3000}).Draw(t, "span")
		line, dumb := New(0, 3), newTwin(span, 3)
		for range rng.IntN(span) {
			from, n := job.Time(rng.IntN(span)), rng.IntN(5)-2
			to := min(from+1+job.Time(rng.IntN(30)), dumb.span())
			line.Add(from, to, n)
			dumb.add(from, to, n)
		}
		dumb.from = job.Time(rng.IntN(span))
		line.Advance(dumb.from)
		for range 20 {
			from := dumb.from - 2 + job.Time(rng.IntN(span))
			to := from + 1 + job.Time(rng.IntN(60))
			compareAround(t, line, dumb, from, to, time.Duration(1+rng.IntN(200)))
			n, since := rng.IntN(6)-1, from
			for since > dumb.from && dumb.at(since-1) >= n {
				since--
			}
			if got := line.RiseBefore(from, n); got != since {
				t.Fatalf("%d nodes are free up to %d since %d, want %d: %v", n, from, got, since, line.Steps())
			}
		}
	})
}

func compareAround(t *rapid.T, line *Timeline, dumb *twin, from, to job.Time, reach time.Duration) {
	steps := line.Around(from, to, reach, nil)
	from = max(from, dumb.from)
	first, end := steps[0], steps[len(steps)-1]
	for i, s := range steps[:len(steps)-1] {
		if s.Start >= steps[i+1].Start {
			t.Fatalf("about %d … %d are %v", from, to, steps)
		}
		many := (i == 0 || i == len(steps)-2) && s.Free == math.MaxInt && len(steps) > far
		for at := s.Start; at < min(steps[i+1].Start, dumb.span()) && !many; at++ {
			if s.Free != dumb.at(at) {
				t.Fatalf("about %d … %d are %v: not at %d", from, to, steps, at)
			}
		}
	}
	if first.Start > from || first.Start > dumb.from && first.Start > from.Add(-reach) && dumb.at(first.Start-1) > 0 {
		t.Fatalf("about %d … %d, not further than %d, are %v: too late", from, to, reach, steps)
	}
	if end.Free != 0 || end.Start != Never && end.Start < to.Add(reach) && (end.Start < to || dumb.at(end.Start) > 0) {
		t.Fatalf("about %d … %d, not further than %d, are %v: too soon", from, to, reach, steps)
	}
}

// compareEarlier compares where a reservation can move to.
func (q question) compareEarlier(t rapid.TB, line *Timeline, dumb *twin) {
	t.Helper()
	for _, d := range []time.Duration{0, 3, 20, 500} {
		for _, before := range []job.Time{0, q.a, min(q.a, Never-10) + 10, q.b} {
			from := min(q.a, dumb.span()) / 2
			got, ok := line.EarlierFit(from, before, q.nodes, d)
			want, wantOK := dumb.earlierFit(from, before, q.nodes, d)
			if ok != wantOK || (ok && got != want) {
				t.Fatalf("%d nodes for %d, reserved at %d, fit from %d on at %d (%v), want %d (%v): %v",
					q.nodes, d, before, from, got, ok, want, wantOK, near(line, from))
			}
		}
	}
}
