package predict

import (
	"cmp"
	"math"
	"slices"
)

// AtLeast returns a lower bound of the mean of RunWithin: no run ends before slots that are always busy have done all
// work, nor before its longest task. It costs a few dozen steps per trial for any number of tasks.
func (t *Trials) AtLeast(windows []Window) float64 {
	sum := 0.0
	for _, b := range t.atLeast(windows) {
		sum += b
	}
	return sum / float64(len(t.runs))
}

// LongestAtLeast returns the same bound for the run that ends last.
func (t *Trials) LongestAtLeast(windows []Window) float64 { return slices.Max(t.atLeast(windows)) }

// atLeast returns a lower bound of the end of each trial. The next call overwrites the result.
func (t *Trials) atLeast(windows []Window) []float64 {
	t.measure()
	t.maps.over(windows, 0, t.load.Maps)
	if t.load.Reduces > 0 {
		t.reduces.over(windows, 1, t.load.Reduces)
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

// tinyShare exceeds the relative rounding error of sums of many durations.
const tinyShare = 1e-9

// total is the work of all maps and all reduces of a trial, and the longest of each, in seconds.
type total struct{ maps, longestMap, reduces, longestReduce float64 }

// measure computes the totals of the trials.
func (t *Trials) measure() {
	if len(t.totals) == len(t.runs) {
		return
	}
	t.bounds = make([]float64, len(t.runs))
	for i := range t.runs {
		r := &t.runs[i]
		one := total{maps: r.Maps.sum(0, t.load.Maps), longestMap: r.Maps.longest(t.load.Maps)}
		n := t.load.Reduces
		if n > seriesLength { // the series repeat; the bound leaves the shuffles out
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

// capacity is the number of slots as a step function of time.
type capacity []step

// step is a change of the number of slots at a time.
type step struct{ at, more float64 }

// over sets the capacity to that of the windows for maps (0) or reduces (1). A window counts no more slots than there are tasks.
func (c *capacity) over(windows []Window, kind, tasks int) {
	*c = (*c)[:0]
	for i := range windows {
		w := &windows[i]
		n := min(w.slots(kind), tasks)
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

// done returns the earliest end of the given work if it begins no earlier than from, +Inf if the slots never suffice.
// The longest of its tasks runs on one slot.
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
