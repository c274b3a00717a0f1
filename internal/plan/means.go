package plan

import (
	"time"

	"berth/internal/predict"
)

// means sets how long a bag task or map, and the sort and reduce of a reduce, take on
// average: what shortest-first order goes by (sched.Rank).
func (p *Plan) means(inv predict.Invariants) {
	p.TaskMean = wholeMillis(inv.Map.Avg)
	if p.Reduces > 0 {
		p.ReduceMean = wholeMillis(inv.Reduce.Avg)
	}
}

// wholeMillis rounds up to a millisecond, the least that counts for a known time.
func wholeMillis(seconds float64) time.Duration {
	d := asDuration(seconds)
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
