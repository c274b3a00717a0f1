package predict

import (
	"math"
	"slices"
)

// Alone is the simulated runs of Trials on slots that the job uses alone and without a time limit. The runs on the
// same slots with another start or an end follow from it without placing a task, as long as that end cuts nothing
// short.
type Alone struct {
	Outcome
	start  float64
	runs   []solo // by trial
	placed int    // tasks, one by one, in all runs
}

// solo is the end of a run, and the starts of its last map and its last reduce.
type solo struct{ done, lastMap, lastReduce float64 }

// Alone places the tasks of every trial on the slots of a window, ignoring its end. The result is cached and must not
// be changed.
func (t *Trials) Alone(w Window) *Alone {
	w.End = math.Inf(1)
	if a, ok := t.alone[w]; ok {
		t.list.placed += a.placed // as if they were placed again, so that a plan does not depend on earlier plans
		return a
	}
	a := &Alone{Outcome: Outcome{Finish: make([]float64, len(t.runs))}, start: w.Start, runs: make([]solo, len(t.runs))}
	before, left := t.list.placed, 0
	for i := range t.runs {
		done, n := t.run(i, []Window{w})
		a.Finish[i], a.runs[i] = done, solo{done, t.list.begun[0], t.list.begun[1]}
		left += n
	}
	slices.Sort(a.Finish)
	a.Left = float64(left) / float64(len(t.runs))
	a.placed = t.list.placed - before
	t.alone[w] = a
	return a
}

// in returns the end of a trial on the slots of a which exist from the start of a window on; false where the window's
// end may change it.
func (a *Alone) in(i int, w *Window, e Expected) (done float64, ok bool) {
	r, later := &a.runs[i], w.Start-a.start
	switch {
	case math.IsInf(r.done, 1):
		return 0, false
	case r.lastMap < 0 && r.lastReduce < 0: // no tasks
		return r.done, true
	}
	ok = r.done+later <= w.End && r.lastMap+later+e.Map <= w.End && r.lastReduce+later+e.Reduce <= w.End
	return r.done + later, ok
}

// RunWithin places the tasks of every trial on the slots of the windows by list scheduling, as the engine does where
// nothing fails: a task begins on the slot that is free first, maps before reduces, and no shuffle ends before the
// last map. No task begins whose expected duration exceeds the rest of its window. A task that is not done when its
// window ends is lost and begins again elsewhere, before other tasks.
//
// RunWithin stops as soon as the mean end certainly exceeds the limit. It then returns false and a lower bound of the
// mean. alone, if not nil, holds the runs on the slots of the first window; no other window may begin before the end
// of that one.
func (t *Trials) RunWithin(windows []Window, alone *Alone, limit float64) (o Outcome, bound float64, ok bool) {
	n := float64(len(t.runs))
	sum, most := 0.0, limit*n*(1+tinyShare)
	bounds := t.atLeast(windows)
	for _, b := range bounds {
		sum += b
	}
	if sum > most {
		return Outcome{}, sum / n, false
	}
	o.Finish = make([]float64, len(t.runs))
	left := 0
	for i := range t.runs {
		done, kept := 0.0, false
		if alone != nil {
			done, kept = alone.in(i, &windows[0], t.expect)
		}
		if !kept {
			more := 0
			done, more = t.run(i, windows)
			left += more
		}
		o.Finish[i] = done
		if sum += done - bounds[i]; sum > most {
			return Outcome{}, sum / n, false
		}
	}
	slices.Sort(o.Finish)
	o.Left = float64(left) / n
	return o, o.Mean(), true
}

// MeanEach returns the mean end of n runs, each on windows of its own. The trials are used in turn.
func (t *Trials) MeanEach(n int, windows func(i int) []Window) (mean float64) {
	for i := range n {
		done, _ := t.run(i%len(t.runs), windows(i))
		mean += done / float64(n)
	}
	return mean
}

// Placed returns how many tasks have been placed one by one so far, in all runs.
func (t *Trials) Placed() int { return t.list.placed }

// run places the tasks of a trial.
func (t *Trials) run(i int, windows []Window) (done float64, left int) {
	t.list.windows = windows
	return t.list.runTrial(t.load, t.expect, &t.runs[i])
}
