package predict

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestAProfiledRunIsPredicted: a run is simulated as berth runs it, on a few slots,
// with reduces of the first wave that begin before the last map ends; measured by a
// Collector; and predicted from that profile. Its end lies within the bounds.
func TestAProfiledRunIsPredicted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 6).Draw(t, "slots")
		ms := rapid.IntRange(1, 5000)
		maps := rapid.SliceOfN(ms, 1, 30).Draw(t, "maps")
		reduces := rapid.SliceOfN(ms, 0, 20).Draw(t, "reduces")
		shuffles := rapid.SliceOfN(ms, len(reduces), len(reduces)).Draw(t, "shuffles")
		early := rapid.IntRange(1, 1000).Draw(t, "how long before the last map reduces begin")

		var c Collector
		free := make([]job.Time, slots)
		for _, m := range maps {
			run(free, m, 0, func(start, end job.Time) {
				mid := start.Add(end.Sub(start) / 2)
				c.Add(job.MapTask, []job.PhaseStat{
					{Phase: job.PhaseMap, Start: start, End: mid, BytesIn: 100, BytesOut: 50},
					{Phase: job.PhaseMerge, Start: mid, End: end, BytesIn: 50, BytesOut: 50},
				})
			})
		}
		lastMap := latest(free)
		for i := range free {
			free[i] = lastMap
		}
		for i, r := range reduces {
			run(free, shuffles[i]+r, lastMap, func(start, end job.Time) {
				shuffled := end.Add(-time.Duration(r) * time.Millisecond)
				if i < slots { // of the first wave: it has been waiting for maps
					start = lastMap.Add(-time.Duration(early) * time.Millisecond)
				}
				c.Add(job.ReduceTask, []job.PhaseStat{
					{Phase: job.PhaseShuffle, Start: start, End: shuffled, BytesIn: 10},
					{Phase: job.PhaseSort, Start: shuffled, End: shuffled},
					{Phase: job.PhaseReduce, Start: shuffled, End: end, BytesIn: 10},
				})
			})
		}
		size := Size{Kind: job.MapReduce, InputBytes: 100 * int64(len(maps)), Tasks: len(maps), Reduces: len(reduces)}
		var p Profile
		p.AddRun(size, 0, c.Measures())
		inv, ok := p.Invariants(size)
		if !ok {
			t.Fatal("the run is not known")
		}
		shape := Shape{Maps: len(maps), Reduces: len(reduces), MapSlots: Uniform(slots), ReduceSlots: Uniform(slots)}
		within(t, "the job", latest(free).Sub(0).Seconds(), Bounds(inv, shape).Total())
	})
}

// run places a task of that many milliseconds on the slot that is free first.
func run(free []job.Time, ms int, from job.Time, done func(start, end job.Time)) {
	first := 0
	for i := range free {
		if free[i] < free[first] {
			first = i
		}
	}
	start := max(free[first], from)
	free[first] = start.Add(time.Duration(ms) * time.Millisecond)
	done(start, free[first])
}

func latest(free []job.Time) job.Time {
	end := job.Time(0)
	for _, t := range free {
		end = max(end, t)
	}
	return end
}
