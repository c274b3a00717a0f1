package predict

import (
	"math"
	"slices"
)

// Alone is the runs of Trials on slots that are all there is, and have no end. What the same
// slots make of the job from another start, and with an end, is told from it without
// placing a task, as far as the end cuts nothing short.
type Alone struct {
	Outcome
	start  float64
	runs   []solo // by trial
	placed int    // tasks, one by one, in all runs
}

// solo is when a run was done, and when its last map and its last reduce began.
type solo struct{ done, lastMap, lastReduce float64 }

// Alone places the tasks of every trial on the slots of a window, whatever its end. What it
// returns may not be changed: the same slots get it again.
func (t *Trials) Alone(w Window) *Alone {
	w.End = math.Inf(1)
	if a, ok := t.alone[w]; ok {
		t.list.placed += a.placed // as if they were placed again: a plan is the same whoever planned before
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

// in returns when a trial is done whose slots, those of a, are there from the start of a
// window on; false: the window's end may change that.
func (a *Alone) in(i int, w *Window, e Expected) (done float64, ok bool) {
	r, later := &a.runs[i], w.Start-a.start
	switch {
	case math.IsInf(r.done, 1):
		return 0, false
	case r.lastMap < 0 && r.lastReduce < 0: // there is nothing to do
		return r.done, true
	}
	ok = r.done+later <= w.End && r.lastMap+later+e.Map <= w.End && r.lastReduce+later+e.Reduce <= w.End
	return r.done + later, ok
}

// RunWithin places the tasks of every trial on the slots of the windows by list scheduling,
// as the engine does where nothing fails: a task begins on the slot that is free
// first; maps before reduces, and no shuffle ends before the last map has. None
// begins that is expected to take longer than its window lasts. One that is not done
// when its window ends is lost, and begins anew elsewhere, before others.
//
// It stops where the mean is sure to be later than the limit: it returns
// false then, and a bound from below on the mean. alone, where it is not nil, is the runs on
// the slots of the first window, before whose end no other begins.
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

// Placed returns how many tasks were placed one by one so far, in all runs.
func (t *Trials) Placed() int { return t.list.placed }

// run places the tasks of a trial.
func (t *Trials) run(i int, windows []Window) (done float64, left int) {
	t.list.windows = windows
	return t.list.run(t.load, t.expect, &t.runs[i])
}
