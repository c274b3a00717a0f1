package predict

import (
	"math"
	"math/rand/v2"
)

// Quantiles returns the qs-quantiles of the completion time in seconds. Bounds assumes the mean duration for all
// tasks; Quantiles draws each task's duration from the measured ones and places it on the slot that is free first, in
// many simulated runs. The same seed gives the same result.
func Quantiles(inv Invariants, shape Shape, seed uint64, qs ...float64) []float64 {
	var load Load
	if shape.MapSlots.Count > 0 {
		load.Maps = shape.Maps
	}
	if shape.ReduceSlots.Count > 0 {
		load.Reduces = shape.Reduces
	}
	const measured = math.MaxInt / 2 // runs: the spread between them is that of the bounds
	runs := NewTrials(inv, load, measured, load.Trials(8, 128, 1<<18), seed).Alone(Window{TaskSlots: shape.MapSlots.Count, ReduceSlots: shape.ReduceSlots.Count})
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = runs.Quantile(q) / max(shape.MapSlots.Speed, shape.ReduceSlots.Speed, tiny) // 0 without slots
	}
	return out
}

// sampler draws durations with the distribution of a sketch.
type sampler struct {
	upto   []int64 // cumulative counts of values
	values []float64
	guide  []int32 // by n>>shift: the index of the value at which the search for n starts
	shift  int
}

// guideLength is the largest number of entries of a guide.
const guideLength = 1 << 10

func newSampler(inv Invariant) sampler {
	var s sampler
	if inv.Sketch == nil || inv.Sketch.Count == 0 {
		return s
	}
	n, sum := int64(0), 0.0
	for value, count := range inv.Sketch.values {
		n += count
		sum += float64(count) * value
		s.upto = append(s.upto, n)
		s.values = append(s.values, value)
	}
	// The middles of the buckets may have another mean than the durations; the scale corrects that.
	scale := inv.Scale * ratio(inv.Sketch.Sum, sum)
	for i := range s.values {
		s.values[i] *= scale
	}
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
