package predict

import (
	"cmp"
	"math"
	"slices"
)

// AtLeast returns a bound from below on the mean of RunWithin: in no run is all work done
// before slots that are always busy have done it, nor before the longest task could be over.
// It costs a few dozen steps a trial, however many tasks there are.
func (t *Trials) AtLeast(windows []Window) float64 {
	sum := 0.0
	for _, b := range t.atLeast(windows) {
		sum += b
	}
	return sum / float64(len(t.runs))
}

// LongestAtLeast returns the same of the run that is done last.
func (t *Trials) LongestAtLeast(windows []Window) float64 { return slices.Max(t.atLeast(windows)) }

// atLeast returns bounds from below on when each trial is done. They are overwritten by the
// next call.
func (t *Trials) atLeast(windows []Window) []float64 {
	t.measure()
	t.maps.over(windows, t.load.Maps, func(w *Window) int { return w.TaskSlots })
	if t.load.Reduces > 0 {
		t.reduces.over(windows, t.load.Reduces, func(w *Window) int { return w.ReduceSlots })
	}
	for i := range t.totals {
		run := &t.totals[i]
		end := t.maps.done(math.Inf(-1), run.maps, run.longestMap)
		if t.load.Reduces > 0 {
			from := end
			if t.load.Maps == 0 {
				from = math.Inf(-1)
			}
			end = max(end, t.reduces.done(from, run.reduces, run.longestReduce))
		}
		t.bounds[i] = max(end, 0) * (1 - tinyShare)
	}
	return t.bounds
}

// tinyShare is more than what rounding adds up to in sums of many durations.
const tinyShare = 1e-9

// total is what the tasks of a trial take together, and the longest of them alone.
type total struct{ maps, longestMap, reduces, longestReduce float64 }

// measure finds the totals of the trials.
func (t *Trials) measure() {
	if len(t.totals) == len(t.runs) {
		return
	}
	t.bounds = make([]float64, len(t.runs))
	for i := range t.runs {
		r := &t.runs[i]
		one := total{maps: r.Maps.sum(0, t.load.Maps), longestMap: r.Maps.longest(t.load.Maps)}
		n := t.load.Reduces
		if n > seriesLength { // they repeat, and what is left out is the shuffles
			one.reduces, one.longestReduce, n = r.Reduces.sum(0, n), r.Reduces.longest(n), 0
		}
		for k := range n {
			d := r.Reduces.at(k) + min(r.First.at(k), r.Other.at(k))
			one.reduces, one.longestReduce = one.reduces+d, max(one.longestReduce, d)
		}
		t.totals = append(t.totals, one)
	}
}

// longest returns the longest of the first n tasks.
func (s Series) longest(n int) float64 {
	if n = min(n, len(s.values)); n == 0 {
		return 0
	}
	return slices.Max(s.values[:n])
}

// capacity is how many slots there are, as a step function of time.
type capacity []step

// step is how many more slots there are from a time on.
type step struct{ at, more float64 }

// over sets it to that of the windows, of which no more slots are of use than there are tasks.
func (c *capacity) over(windows []Window, tasks int, slots func(*Window) int) {
	*c = (*c)[:0]
	for i := range windows {
		w := &windows[i]
		n := min(slots(w), tasks)
		if n <= 0 || w.End <= w.Start {
			continue
		}
		*c = append(*c, step{w.Start, float64(n)})
		if !math.IsInf(w.End, 1) {
			*c = append(*c, step{w.End, -float64(n)})
		}
	}
	slices.SortFunc(*c, func(a, b step) int { return cmp.Compare(a.at, b.at) })
}

// done returns when so much work is done at best that begins no earlier than from, +Inf if it
// never is. The longest of its tasks is on one slot.
func (c capacity) done(from, work, longest float64) float64 {
	if work <= 0 {
		return from
	}
	if len(c) == 0 {
		return math.Inf(1)
	}
	now := max(from, c[0].at)
	least := now + longest
	slots := 0.0
	for _, s := range c {
		if s.at > now {
			could := (s.at - now) * slots
			if could >= work {
				return max(least, now+work/slots)
			}
			work -= could
			now = s.at
		}
		slots += s.more
	}
	if slots < tiny {
		return math.Inf(1)
	}
	return max(least, now+work/slots)
}
