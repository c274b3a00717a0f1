package plan

import (
	"time"

	"berth/internal/core/predict"
)

// setMeans sets the mean durations of a bag task or map, and of the sort and reduce of a reduce, by which the order
// "shortest" ranks tasks (sched.Rank).
func (p *Plan) setMeans(inv predict.Invariants) {
	p.TaskMean = wholeMillis(inv.Map.Avg)
	if p.Reduces > 0 {
		p.ReduceMean = wholeMillis(inv.Reduce.Avg)
	}
}

// wholeMillis rounds up to a millisecond, because 0 stands for an unknown time.
func wholeMillis(seconds float64) time.Duration {
	d := asDuration(seconds)
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
