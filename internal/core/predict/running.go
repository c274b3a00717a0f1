package predict

import (
	"cmp"
	"math"
	"slices"
)

// withRunning returns the sketch of the measured durations and of those of tasks that still run, of which is known that they take longer
// than their ages in seconds. Without these the first tasks that are done, which are the short ones, would stand for all.
//
// A running task gets one of the longer durations: those that are measured, and those that older running tasks have got. This is the
// product-limit estimate of Kaplan and Meier, as Efron's redistribution to the right computes it; the durations are spread evenly over
// the longer ones. Of a task that has run for longer than all that are done, what is left is assumed to be exponential, with the mean
// that makes the ages and durations likeliest: all time that tasks have run, divided by the number of those that are done.
func (s *Sketch) withRunning(ages []float64) *Sketch {
	out := *s
	out.Histogram.counts = slices.Clone(s.Histogram.counts)
	if s.Count == 0 {
		return &out
	}
	old := slices.Clone(ages)
	slices.SortFunc(old, func(x, y float64) int { return cmp.Compare(y, x) })
	tail, mean := 0, s.Sum/float64(s.Count)
	for _, a := range old {
		mean += a / float64(s.Count)
		if s.longer(a) == 0 {
			tail++
		}
	}
	left := 0.0 // of the sorted durations of an exponential distribution each in turn, as expected
	for i, a := range old {
		if i < tail {
			left += mean / float64(tail-i)
			out.Add(a + left)
			continue
		}
		longer := out.longer(a)
		out.Add(max(a, out.Histogram.at(float64(out.Count)-(1-even(i-tail))*longer)))
	}
	return &out
}

// Rest returns how many more seconds a task takes that has run for some: that fraction of those which took longer took no more. If none did, it
// is the standard deviation, as of durations that are exponential from the shortest on.
func (s *Sketch) Rest(age, fraction float64) float64 {
	longer := s.longer(age)
	if longer == 0 {
		return s.StdDev()
	}
	return max(0, min(s.Histogram.at(float64(s.Count)-(1-fraction)*longer), s.Max)-age)
}

// longer returns how many durations are in buckets above that of d.
func (s *Sketch) longer(d float64) (n float64) {
	of := math.MinInt
	if d >= tiny {
		of = bucketOf(d)
	}
	for i, c := range s.Histogram.counts {
		if s.Histogram.base+i > of {
			n += float64(c)
		}
	}
	return n
}

// even returns the i-th number of van der Corput's sequence: the first of these, however many, are spread evenly between 0 and 1.
func even(i int) (u float64) {
	f := 0.5
	for i++; i > 0; i >>= 1 {
		if i&1 == 1 {
			u += f
		}
		f /= 2
	}
	return u
}

// WithRunning returns the invariant with the durations of tasks that still run, see Sketch.withRunning.
func (i Invariant) WithRunning(ages []float64) Invariant {
	if i.Sketch == nil || i.Sketch.Count == 0 || len(ages) == 0 {
		return i
	}
	s := i.Sketch.withRunning(ages)
	grown := s.Mean() / max(i.Sketch.Mean(), tiny)
	return Invariant{Low: i.Low * grown, Avg: i.Avg * grown, Max: s.Max * i.Scale, Sketch: s, Scale: i.Scale}
}
