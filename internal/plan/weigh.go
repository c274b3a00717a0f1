package plan

import (
	"fmt"
	"math"
	"slices"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/sched"
	"berth/internal/timeline"
)

// alone returns the runs of the job on so many nodes that are there from now on and
// have no end, beside nothing else.
func (a *adaptor) alone(o *offer, nodes int) *predict.Alone {
	key := runKey{o, nodes}
	runs, ok := a.runs[key]
	if !ok {
		before := a.trials.Placed()
		runs = a.trials.Alone(o.window(nodes, 0, math.Inf(1)))
		a.runs[key], a.spent = runs, a.spent+a.trials.Placed()-before
	}
	return runs
}

// simulate runs the sample on the windows, and counts the tasks that are placed one by one.
// See predict.Trials.RunWithin.
func (a *adaptor) simulate(windows []predict.Window, alone *predict.Alone, limit float64) (o predict.Outcome, bound float64, ok bool) {
	before := a.trials.Placed()
	o, bound, ok = a.trials.RunWithin(windows, alone, limit)
	a.spent += a.trials.Placed() - before
	return o, bound, ok
}

// one returns how long one of the next tasks is expected to take at most, in seconds.
func (a *adaptor) one() float64 {
	if a.load.Maps == 0 {
		return max(a.expect.Reduce, a.known.inv.Reduce.Avg)
	}
	return a.expect.Map
}

const (
	// guessTimes is how many times as long as guessed a reduce may well take …
	guessTimes = 3
	// guessMost … and up to how many seconds that is reckoned with: it costs little.
	guessMost = 600.0
)

// startUp returns how long after its start the workers of an allocation are ready, in seconds: the
// usual, or what allocations of the job have shown. That is believed up to half of the longest
// wall time, as it may be a guess: with more, nothing could be done in any.
func (a *adaptor) startUp(l limits) float64 {
	if a.q.Rest == nil {
		return usualStartUp
	}
	return max(usualStartUp, min(a.q.Rest.StartUp.Seconds(), l.maxTime/2))
}

// ready returns after what part of its wall time, in seconds, the workers of an allocation are
// ready though they are slow.
func (o *offer) ready() float64 { return o.startUp + max(slowBy, slowShare*o.startUp) }

// least returns the shortest wall time that is of use, in seconds: a task may begin in it
// (sched.Span) by what the plan and the engine expect of one, although workers are slow to start;
// and twice what an attempt had run when its allocation ended, as else the same task could be
// cut short again and again. So could reduces in what is enough for a guess alone, all of
// them, one allocation after the other, until the job is given up.
func (a *adaptor) least(o *offer) float64 {
	least := o.ready() + sched.Span(asDuration(a.one())).Seconds()
	if guess := a.known.inv.Reduce.Max; a.known.guessed && a.load.Reduces > 0 {
		least = max(least, o.startUp+min(guessTimes*guess, max(guess, guessMost)))
	}
	if r := a.q.Rest; r != nil {
		least = max(least, o.ready()+r.Span.Seconds(), 2*r.CutShort.Seconds())
	}
	return min(least, o.maxTime)
}

// longest returns the longest wall time that can be asked for in a candidate's slot, in whole
// grains. Of a slot that ends a moment is left, as an allocation that starts late must not reach
// beyond it: it would not start at all.
func (a *adaptor) longest(c *Candidate) float64 {
	if c.Duration == timeline.Unbounded {
		return c.offer.maxWall
	}
	return min(max(c.Duration-settle, 0).Truncate(a.grain).Seconds(), c.offer.maxWall)
}

// safe returns a wall time in which every simulated run is done, and none of its tasks
// is held back because it might not be; the limit where that is less.
func (a *adaptor) safe(o *offer, nodes int, limit float64) float64 {
	if !a.does(o, nodes, limit) {
		return limit
	}
	return a.ceil(a.alone(o, nodes).Quantile(1) + a.held())
}

// does reports whether a wall time does for every simulated run. Where one is sure not to be
// done nothing is simulated.
func (a *adaptor) does(o *offer, nodes int, t float64) bool {
	if _, known := a.runs[runKey{o, nodes}]; !known && a.ceil(a.trials.LongestAtLeast([]predict.Window{o.window(nodes, 0, math.Inf(1))})+a.held()) > t {
		return false
	}
	return a.ceil(a.alone(o, nodes).Quantile(1)+a.held()) <= t
}

// held returns how long before the end of an allocation tasks are held back, in seconds.
func (a *adaptor) held() float64 { return max(a.expect.Map, a.expect.Reduce) }

// upper returns the upper bound T_up on so many nodes as a wall time, as Algorithm 1 of
// the paper asks for it.
func (a *adaptor) upper(c *Candidate) float64 {
	return a.ceil(c.offer.startUp + predict.Bounds(a.known.inv, a.shape(c)).Total().Up)
}

// shape returns the job as it would run on a candidate's nodes alone.
func (a *adaptor) shape(c *Candidate) predict.Shape {
	return predict.Shape{
		Maps: a.load.Maps, Reduces: a.load.Reduces,
		MapSlots: predict.Uniform(c.Take * c.offer.taskSlots), ReduceSlots: predict.Uniform(c.Take * c.offer.reduceSlots),
	}
}

// tooShort says why a candidate's slot is of no use; empty: it is long enough for a task.
func (a *adaptor) tooShort(c *Candidate) (why string) {
	if a.longest(c) < a.least(c.offer) {
		return fmt.Sprintf("its %s are too short for one task", duration(c.Duration.Seconds()))
	}
	return ""
}

// wall returns the wall time to ask for: by the user's rule, or as much as the job is sure to
// need, if the slot lasts as long, and else all that it has. Why is not empty where there is none.
func (a *adaptor) wall(c *Candidate) (t float64, why string) {
	if why := a.tooShort(c); why != "" {
		return 0, why
	}
	limit, least := a.longest(c), a.least(c.offer)
	wanted, name := math.Inf(1), "longest time allowed"
	switch a.req.WallTime {
	case job.WallAuto:
		return min(max(a.safe(c.offer, c.Take, limit), a.ceil(least)), limit), ""
	case job.WallUpper:
		wanted, name = max(a.upper(c), a.ceil(least)), "upper bound"
	}
	if wanted = min(wanted, c.offer.maxWall); limit < wanted {
		return 0, fmt.Sprintf("its %s are less than the %s", duration(c.Duration.Seconds()), name)
	}
	return wanted, ""
}

// weigh says what the job makes of a candidate's nodes for its wall time, beside the allocations
// that it has already. Where that is sure to be done later than the limit it is not simulated:
// the expected turnaround is then a bound from below.
func (a *adaptor) weigh(c Candidate, beside []predict.Window, limit float64) Candidate {
	c.Wait, c.Risk, c.done = a.seconds(c.Start), 0, 0
	a.check(&c)
	if c.rejected != "" {
		c.Total = math.Inf(1)
		return c
	}
	if len(beside) == 0 && a.does(c.offer, c.Take, c.wall) {
		c.Total = c.Wait + a.alone(c.offer, c.Take).Mean()
		return c
	}
	windows, last := a.goingOn(c.offer, append(slices.Clone(beside), c.window()))
	if c.Total = a.trials.AtLeast(windows); c.Total > limit {
		c.beaten = true
		return c
	}
	var alone *predict.Alone
	if len(beside) == 0 {
		alone = a.alone(c.offer, c.Take)
	}
	runs, mean, ok := a.simulate(windows, alone, limit)
	if c.Total, c.beaten = mean, !ok; ok {
		c.Risk, c.done = runs.Late(last), runs.Quantile(1)
	}
	return c
}

// noLimit has a candidate weighed however late it is.
var noLimit = math.Inf(1)

// atLeast returns a bound from below on the expected turnaround of a candidate, for whatever wall
// time: its nodes are there for all of the slot, and after it the job has at once as many nodes
// as are of use.
func (a *adaptor) atLeast(c *Candidate) float64 {
	o, start, windows := c.offer, a.seconds(c.Start), make([]predict.Window, 1, 2)
	end := start + a.longest(c)
	if !math.IsInf(end, 1) {
		windows = append(windows, o.window(o.capNodes, end-o.startUp, math.Inf(1)))
	}
	windows[0] = o.window(c.Take, start, end)
	return a.trials.AtLeast(windows)
}

// goingOn adds what follows where the windows do not do: allocations that are asked for
// one after the other, each when the last one is over. Each is as large as ends what is
// then left soonest, if all goes as on average, and as long as is allowed; the last has
// no end. goingOn also returns when the last of the given windows ends.
func (a *adaptor) goingOn(o *offer, windows []predict.Window) ([]predict.Window, float64) {
	last, left := 0.0, a.work()
	for _, w := range windows {
		last = max(last, w.End)
		left -= (w.End - w.Start) * float64(max(w.TaskSlots, w.ReduceSlots))
	}
	for i, end := 1, last; !math.IsInf(end, 1); i++ {
		left = max(left, a.work()/leftAtLeast)
		w := a.next(o, end, left, i == maxFollowing)
		windows = append(windows, w)
		end = w.End
		left -= (w.End - w.Start) * float64(max(w.TaskSlots, w.ReduceSlots))
	}
	return windows, last
}

const (
	// leftAtLeast says what part of a job is taken to be left, at least, when it is not done
	// in time, although on average it would be.
	leftAtLeast = 20
	// maxFollowing is how many allocations are taken to follow at most.
	maxFollowing = 4
)

// next returns an allocation for what is left of a job when another is over. It waits
// until the queue of now has room for it, and no less than it would wait if it were asked
// for now: others will come meanwhile, and the queue is taken to be as long then as it is
// now.
func (a *adaptor) next(o *offer, end, left float64, lasts bool) predict.Window {
	var best predict.Window
	least := math.Inf(1)
	for n := o.capNodes; ; n = max(n/2, o.minNodes) {
		run := max(left/float64(n*max(o.taskSlots, o.reduceSlots)), a.known.inv.Map.Avg)
		c := Candidate{offer: o, PerNode: o.perNode, Take: n, wall: min(run, 2*never, o.maxTime)}
		c.Wait = max(a.fit(o.line, end, n, c.wall), end+a.fit(o.queue, 0, n, c.wall))
		a.check(&c)
		if (c.rejected == "" || n == o.minNodes) && c.Wait+run < least {
			least, best = c.Wait+run, o.window(n, c.Wait, math.Inf(1))
			if !lasts {
				best.End = c.Wait + o.maxTime
			}
		}
		if n == o.minNodes {
			return best
		}
	}
}

// work returns how long one slot alone would take for what is left of the job, in seconds.
func (a *adaptor) work() float64 {
	maps, reduces := a.trials.Work()
	return maps + reduces
}
