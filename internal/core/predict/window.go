package predict

import (
	"math"
	"slices"
)

// Window is a time in which slots exist: of an allocation, from when its workers are ready until its wall time ends.
// Times are in seconds from now.
type Window struct {
	Start, End             float64 // End is +Inf where there is none
	TaskSlots, ReduceSlots int     // bag tasks or maps, and reduces, that run at once
}

// slots returns how many maps (0) or reduces (1) run at once.
func (w *Window) slots(kind int) int {
	if kind == 0 {
		return w.TaskSlots
	}
	return w.ReduceSlots
}

// expectedQuantile is the quantile of task durations that counts as the expected longest duration.
const expectedQuantile = 0.95

// Expected is the expected longest duration of a task, in seconds: no task begins where less time is left. 0 is
// unknown, and the task begins.
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

// Quantile returns the q-quantile of the durations in seconds.
func (i Invariant) Quantile(q float64) float64 {
	if i.Sketch == nil {
		return 0
	}
	return i.Sketch.Quantile(q) * i.Scale
}

// Outcome is the ends of the runs of Trials.
type Outcome struct {
	// Finish holds the end of each run, in seconds from now and in ascending order; +Inf for runs that did not end in the
	// windows.
	Finish []float64
	Left   float64 // mean number of tasks that were not done
}

// Mean returns the expected end, +Inf if a run did not end.
func (o Outcome) Mean() float64 {
	sum := 0.0
	for _, f := range o.Finish {
		sum += f
	}
	return sum / float64(len(o.Finish))
}

// Quantile returns the q-quantile of the ends.
func (o Outcome) Quantile(q float64) float64 {
	n := len(o.Finish)
	return o.Finish[min(max(int(math.Ceil(q*float64(n))), 1), n)-1]
}

// Late returns the fraction of the runs that ended after a time.
func (o Outcome) Late(end float64) float64 {
	i, _ := slices.BinarySearch(o.Finish, math.Nextafter(end, math.Inf(1)))
	return float64(len(o.Finish)-i) / float64(len(o.Finish))
}
