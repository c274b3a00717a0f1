package predict

import (
	"math"
	"slices"
)

// Window is a stretch of time in which slots are there: an allocation from when its
// workers are ready until its wall time is over. Times are in seconds from now.
type Window struct {
	Start, End             float64 // End is +Inf where there is none
	TaskSlots, ReduceSlots int     // bag tasks or maps, and reduces, that run at once
}

// expectedQuantile is the share of tasks that take no longer than they are expected to.
const expectedQuantile = 0.95

// Expected is how long a task is expected to take at most, in seconds:
// none is begun where less time is left. 0: unknown, so it is begun.
type Expected struct {
	Map    float64 // a bag task or map
	Reduce float64 // the shuffle, sort and reduce of a reduce
	Sort   float64 // its sort and reduce alone
}

// ExpectedOf returns the 95th percentiles of the measured durations.
func ExpectedOf(inv Invariants) Expected {
	e := Expected{Map: inv.Map.Quantile(expectedQuantile), Sort: inv.Reduce.Quantile(expectedQuantile)}
	e.Reduce = e.Sort + inv.OtherShuffle.Quantile(expectedQuantile)
	return e
}

// Quantile returns the duration in seconds that the share q of the tasks keep within.
func (i Invariant) Quantile(q float64) float64 {
	if i.Sketch == nil {
		return 0
	}
	return i.Sketch.Quantile(q) * i.Scale
}

// Outcome is how the runs of Trials ended.
type Outcome struct {
	// Finish holds when each run was done, in seconds from now and in ascending order;
	// +Inf for those that were not done in the windows.
	Finish []float64
	Left   float64 // tasks that were not done, on average
}

// Mean returns the expected finish, +Inf if a run was not done.
func (o Outcome) Mean() float64 {
	sum := 0.0
	for _, f := range o.Finish {
		sum += f
	}
	return sum / float64(len(o.Finish))
}

// Quantile returns when the share q of the runs was done.
func (o Outcome) Quantile(q float64) float64 {
	n := len(o.Finish)
	return o.Finish[min(max(int(math.Ceil(q*float64(n))), 1), n)-1]
}

// Late returns the share of the runs that were not done by then.
func (o Outcome) Late(end float64) float64 {
	i, _ := slices.BinarySearch(o.Finish, math.Nextafter(end, math.Inf(1)))
	return float64(len(o.Finish)-i) / float64(len(o.Finish))
}
