package bound

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestFluid compares srpt and wspt with the optimum over all schedules of unit slots.
func TestFluid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "jobs")
		jobs, weights := make([]Job, n), make([]float64, n)
		for i := range jobs {
			jobs[i] = Job{Submit: at(rapid.IntRange(0, 4).Draw(t, "submit")), Work: float64(rapid.IntRange(1, 3).Draw(t, "work"))}
			weights[i] = rapid.Float64Range(0, 1).Draw(t, "weight")
		}
		slices.SortStableFunc(jobs, func(a, b Job) int { return int(a.Submit - b.Submit) })
		b := brute{jobs: jobs, weights: weights, seen: map[string][2]float64{}}
		left := make([]int, n)
		for i := range left {
			left[i] = int(jobs[i].Work)
		}
		want := b.least(0, left)

		f := newFluid(1, jobs)
		if got, want := f.srpt(), want[0]; math.Abs(got-want) > 1e-9 {
			t.Fatalf("the least sum of turnarounds is %v, want %v", got, want)
		}
		f.wspt(weights)
		got := 0.0
		for i, w := range weights {
			got += w * (f.middle[i] + seconds(jobs[0].Submit, 0))
		}
		if math.Abs(got-want[1]) > 1e-9 {
			t.Fatalf("the least sum of weighted middles is %v, want %v", got, want[1])
		}
	})
}

// brute enumerates all schedules in which each job uses whole seconds.
type brute struct {
	jobs    []Job
	weights []float64
	seen    map[string][2]float64
}

// least returns the smallest sum of turnarounds, and of weighted middles, from the second now on.
func (b *brute) least(now int, left []int) [2]float64 {
	if slices.Max(left) == 0 {
		return [2]float64{}
	}
	key := fmt.Sprint(now, left)
	if v, ok := b.seen[key]; ok {
		return v
	}
	best := [2]float64{math.Inf(1), math.Inf(1)}
	idle := true
	for i, l := range left {
		if l == 0 || b.jobs[i].Submit > at(now) {
			continue
		}
		idle = false
		left[i]--
		rest := b.least(now+1, left)
		left[i]++
		if l == 1 {
			rest[0] += float64(now+1) - seconds(b.jobs[i].Submit, 0)
		}
		rest[1] += b.weights[i] * (float64(now) + 0.5) / b.jobs[i].Work
		best[0], best[1] = min(best[0], rest[0]), min(best[1], rest[1])
	}
	if idle {
		best = b.least(now+1, left)
	}
	b.seen[key] = best
	return best
}
