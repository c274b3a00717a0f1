package predict

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	replications = 128 // simulated runs; six of them lie above the 95th percentile
	tailTasks    = 256 // least number of tasks of a stage that are placed one by one …
	tailWaves    = 4   // … and the least number per slot
)

// Quantiles returns the qs-quantiles of the completion time in seconds. Bounds assumes the mean duration for all
// tasks; Quantiles draws each task's duration from the measured ones and places it on the slot that is free first, in
// many simulated runs. The same seed gives the same result.
//
// In a stage of many tasks all but the last few waves only keep every slot busy: their total is drawn from the normal
// distribution that it tends to, and only the rest is placed task by task, so that the cost does not grow with the
// number of tasks.
func Quantiles(inv Invariants, shape Shape, seed uint64, qs ...float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a simulation, not a secret
	mapTimes, reduceTimes := newSampler(inv.Map), newSampler(inv.Reduce)
	first, other := newSampler(inv.FirstShuffle), newSampler(inv.OtherShuffle)
	runs := make([]float64, replications)
	for i := range runs {
		runs[i] = makespan(rng, shape.Maps, shape.MapSlots, task{rest: mapTimes}) +
			makespan(rng, shape.Reduces, shape.ReduceSlots, task{first: first, other: other, rest: reduceTimes})
	}
	slices.Sort(runs)
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = runs[int(min(max(q, 0), 1)*float64(replications-1)+0.5)]
	}
	return out
}

// task draws the duration of a task: a part that depends on whether the task is in the first wave, and a part that
// does not.
type task struct{ first, other, rest sampler }

func (t task) draw(rng *rand.Rand, firstWave bool) float64 {
	if firstWave {
		return t.first.draw(rng) + t.rest.draw(rng)
	}
	return t.other.draw(rng) + t.rest.draw(rng)
}

// bulk draws the total duration of n tasks that are not in the first wave.
func (t task) bulk(rng *rand.Rand, n int) float64 {
	mean := t.other.mean + t.rest.mean
	sd := math.Hypot(t.other.sd, t.rest.sd)
	return max(0, float64(n)*mean+math.Sqrt(float64(n))*sd*rng.NormFloat64())
}

// makespan places n tasks on the slots by list scheduling and returns when the last ends.
func makespan(rng *rand.Rand, n int, s Slots, t task) float64 {
	if n <= 0 || s.Count <= 0 {
		return 0
	}
	wave := min(n, s.Count)
	var placed []float64
	for range wave {
		placed = append(placed, t.draw(rng, true))
	}
	n -= wave
	busy := 0.0 // time of each slot between its task of the first wave and the tail
	if tail := max(tailTasks, tailWaves*s.Count); n > tail {
		busy = t.bulk(rng, n-tail) / float64(s.Count)
		n = tail
	}
	for range n {
		placed = append(placed, t.draw(rng, false))
	}
	_, ends := NewSeries(placed).Singly(s.Count)
	return (busy + slices.Max(ends)) / s.Speed
}

// sampler draws durations with the distribution of a sketch.
type sampler struct {
	upto     []int64 // cumulative counts of values
	values   []float64
	mean, sd float64
	guide    []int32 // by n>>shift: the index of the value at which the search for n starts
	shift    int
}

// guideLength is the largest number of entries of a guide.
const guideLength = 1 << 10

func newSampler(inv Invariant) sampler {
	var s sampler
	if inv.Sketch == nil || inv.Sketch.Count == 0 {
		return s
	}
	h, n, sum := &inv.Sketch.Histogram, int64(0), 0.0
	add := func(count int64, value float64) {
		if count > 0 {
			value = min(max(value, inv.Sketch.Min), inv.Sketch.Max)
			n += count
			sum += float64(count) * value
			s.upto = append(s.upto, n)
			s.values = append(s.values, value)
		}
	}
	add(h.zero, 0)
	for i, c := range h.counts {
		add(c, middleOf(h.base+i))
	}
	// The middles of the buckets may have another mean than the durations; the scale corrects that.
	scale := inv.Scale * ratio(inv.Sketch.Sum, sum)
	for i := range s.values {
		s.values[i] *= scale
	}
	s.mean, s.sd = inv.Scale*inv.Sketch.Mean(), inv.Scale*inv.Sketch.StdDev()
	for n>>s.shift >= guideLength {
		s.shift++
	}
	for k, i := int64(0), int32(0); k < n; k += 1 << s.shift {
		for s.upto[i] <= k {
			i++
		}
		s.guide = append(s.guide, i)
	}
	return s
}

func (s sampler) draw(rng *rand.Rand) float64 {
	if len(s.upto) == 0 {
		return 0
	}
	n := rng.Int64N(s.upto[len(s.upto)-1])
	i := s.guide[n>>s.shift]
	for s.upto[i] <= n {
		i++
	}
	return s.values[i]
}
