package predict

import "math"

// Weighted is the durations of some of a job's tasks, and how many these tasks are.
type Weighted struct {
	Invariant
	Tasks int
}

// mixtureCounts is about how many durations the sketch of a mixture has.
const mixtureCounts = 1 << 20

// Mixture returns the durations of all of the tasks together: a task is of each kind with the probability of that kind's part of all tasks.
func Mixture(kinds []Weighted) Invariant {
	tasks := 0
	for _, k := range kinds {
		tasks += k.Tasks
	}
	out := Invariant{Sketch: &Sketch{}, Scale: 1}
	for _, k := range kinds {
		share := float64(k.Tasks) / float64(max(1, tasks))
		out.Low += share * k.Low
		out.Avg += share * k.Avg
		out.Max = max(out.Max, k.Max)
		if k.Sketch != nil && k.Sketch.Count > 0 {
			out.Sketch.Merge(k.Sketch.scaled(k.Scale, share*mixtureCounts))
		}
	}
	return out
}

// scaled returns a sketch of about that many durations, which are those of s multiplied by factor, each at least once.
func (s *Sketch) scaled(factor, many float64) *Sketch {
	out := &Sketch{Min: s.Min * factor, Max: s.Max * factor}
	each := many / float64(s.Count)
	for v, n := range s.values {
		n = int64(max(1, math.Round(float64(n)*each)))
		v *= factor
		out.Count += n
		out.Sum += v * float64(n)
		out.SumSq += v * v * float64(n)
		out.Histogram.add(v, n)
	}
	return out
}
