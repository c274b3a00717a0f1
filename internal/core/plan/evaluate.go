package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/sched"
	"berth/internal/core/timeline"
)

// runsAlone returns the runs of the job on so many nodes that are there from now on and
// have no end, beside nothing else.
func (a *adaptor) runsAlone(o *offer, nodes int) *predict.Alone {
	key := o.window(nodes, 0, math.Inf(1))
	runs, ok := a.runs[key]
	if !ok {
		before := a.trials.Placed()
		runs = a.trials.Alone(key)
		a.runs[key], a.spent = runs, a.spent+a.trials.Placed()-before
	}
	return runs
}

// simulate runs the sample on the windows and counts the tasks that are placed one by one. See
// predict.Trials.RunWithin.
func (a *adaptor) simulate(windows []predict.Window, alone *predict.Alone, limit float64) (o predict.Outcome, bound float64, ok bool) {
	before := a.trials.Placed()
	o, bound, ok = a.trials.RunWithin(windows, alone, limit)
	a.spent += a.trials.Placed() - before
	return o, bound, ok
}

// taskTime returns the longest expected duration of one of the next tasks, in seconds.
func (a *adaptor) taskTime() float64 {
	if a.load.Maps == 0 {
		return max(a.expect.Reduce, a.known.inv.Reduce.Avg)
	}
	return a.expect.Map
}

const (
	// guessTimes is how many times the guessed duration a reduce may take.
	guessTimes = 3
	// guessMost bounds the time that guessTimes adds, in seconds, so that a wrong guess costs little.
	guessMost = 600.0
)

// startUp returns the time from the start of an allocation until its workers are ready, in seconds: the usual one, or
// the one that the job's allocations have shown. The latter counts up to half of the longest wall time, because it
// may be a guess: with more, no allocation could do any work.
func (a *adaptor) startUp(l limits) float64 {
	if a.q.Remaining == nil {
		return usualStartUp
	}
	return max(usualStartUp, min(a.q.Remaining.StartUp.Seconds(), l.maxTime/2))
}

// readyAfter returns after how many seconds of its wall time an allocation has ready workers even if they are slow to
// start.
func (o *offer) readyAfter() float64 { return o.startUp + max(slowBy, slowShare*o.startUp) }

// leastUsefulWall returns the shortest useful wall time, in seconds. A task must be allowed to begin in it (sched.Span) by the
// durations that plan and engine expect, although workers are slow to start; and it is twice the time that an attempt
// had run when its allocation ended, because else the same task could be cut short again and again. Where the
// durations of reduces are guessed it has room for a multiple of the guess: else all reduces could be cut short in
// one allocation after the other until the job fails.
func (a *adaptor) leastUsefulWall(o *offer) float64 {
	least := o.readyAfter() + sched.Span(asDuration(a.taskTime())).Seconds()
	if guess := a.known.inv.Reduce.Max; a.known.guessed && a.load.Reduces > 0 {
		least = max(least, o.startUp+min(guessTimes*guess, max(guess, guessMost)))
	}
	if r := a.q.Remaining; r != nil {
		least = max(least, o.readyAfter()+r.Span.Seconds(), 2*r.CutShort.Seconds())
	}
	return min(max(least, shortest, a.leastAsked(o)), o.maxTime)
}

// leastAsked returns the shortest wall time that the partition accepts and that is useful for tasks which get a signal before
// their time is over, in seconds: they can work for as long as they have to save their state.
func (a *adaptor) leastAsked(o *offer) float64 {
	if a.lead() == 0 {
		return o.minTime
	}
	return max(o.minTime, o.readyAfter()+sched.Span(2*a.lead()).Seconds())
}

// lead returns how long before the end of an allocation its tasks get a signal; 0: they get none.
func (a *adaptor) lead() time.Duration {
	if a.q.Spec.Kind != job.Bag {
		return 0
	}
	return a.q.Spec.Bag.SignalLead
}

// longest returns the longest wall time that can be requested in a candidate's slot, in whole grains of seconds. It
// leaves startDelay before the end of the slot, because an allocation that starts late and reaches beyond it would
// not start at all.
func (a *adaptor) longest(c *Candidate) float64 {
	if c.Duration == timeline.Unbounded {
		return c.offer.maxWall
	}
	return min(max(c.Duration-startDelay, 0).Truncate(a.grain).Seconds(), c.offer.maxWall)
}

// safeWallTime returns a wall time in which every simulated run ends and no task is delayed by the end of the
// allocation; the limit where that is less.
func (a *adaptor) safeWallTime(o *offer, nodes int, limit float64) float64 {
	if !a.suffices(o, nodes, limit) {
		return limit
	}
	return a.ceilGrain(a.runsAlone(o, nodes).Quantile(1) + a.endMargin())
}

// suffices reports whether every simulated run ends within a wall time. It simulates nothing where the lower bound of
// a run already exceeds it.
func (a *adaptor) suffices(o *offer, nodes int, t float64) bool {
	alone := o.window(nodes, 0, math.Inf(1))
	if _, known := a.runs[alone]; !known && a.ceilGrain(a.trials.LongestAtLeast([]predict.Window{alone})+a.endMargin()) > t {
		return false
	}
	return a.ceilGrain(a.runsAlone(o, nodes).Quantile(1)+a.endMargin()) <= t
}

// endMargin returns how long before the end of an allocation no task is started or may run without a signal, in seconds. A task that meets a slow
// node takes the time of another one, which the durations of those that were done do not tell.
func (a *adaptor) endMargin() float64 {
	return max(a.expect.Map, a.expect.Reduce)*(1+a.slowNode) + a.lead().Seconds()
}

// upperBound returns the upper bound T_up on the candidate's nodes as a wall time, which Algorithm 1 of the paper
// requests.
func (a *adaptor) upperBound(c *Candidate) float64 {
	return a.ceilGrain(c.offer.startUp + predict.Bounds(a.known.inv, a.jobShape(c)).Total().Up)
}

// jobShape returns the job's shape on the candidate's nodes alone.
func (a *adaptor) jobShape(c *Candidate) predict.Shape {
	return predict.Shape{
		Maps: a.load.Maps, Reduces: a.load.Reduces,
		MapSlots: predict.Uniform(c.offer.taskSlots.onNodes(c.Take)), ReduceSlots: predict.Uniform(c.offer.reduceSlots.onNodes(c.Take)),
	}
}

// tooShort returns the reason why a candidate's slot is too short for one task, or an empty string.
func (a *adaptor) tooShort(c *Candidate) (why string) {
	least := a.leastUsefulWall(c.offer)
	if a.longest(c) >= least {
		return ""
	}
	if least == shortest {
		return duration(c.Duration.Seconds()) + " is too short to be requested"
	}
	return duration(c.Duration.Seconds()) + " is too short for one task"
}

// wallTime returns the wall time to request, in seconds: by the user's rule, or what the job certainly needs, if the slot
// is as long, and else all of the slot. why is the reason why the slot is infeasible, or empty.
func (a *adaptor) wallTime(c *Candidate) (t float64, why string) {
	if why := a.tooShort(c); why != "" {
		return 0, why
	}
	limit, least := a.longest(c), a.leastUsefulWall(c.offer)
	wanted, name := math.Inf(1), "longest wall time allowed"
	switch a.req.WallTime {
	case job.WallAuto:
		return min(max(a.safeWallTime(c.offer, c.Take, limit), a.ceilGrain(least)), limit), ""
	case job.WallUpper:
		wanted, name = max(a.upperBound(c), a.ceilGrain(least)), "upper bound of the run time"
	}
	if wanted = min(wanted, c.offer.maxWall); limit < wanted {
		return 0, fmt.Sprintf("%s is less than the %s", duration(c.Duration.Seconds()), name)
	}
	return wanted, ""
}

// evaluate computes the expected turnaround of the job on a candidate's nodes for its wall time, together with the
// allocations in beside. Where a lower bound of that exceeds the limit nothing is simulated: Total is then the bound,
// and the candidate is marked as beaten.
func (a *adaptor) evaluate(c Candidate, beside []predict.Window, limit float64) Candidate {
	c.Wait, c.Risk, c.done, c.likely = a.expectedWait(&c), 0, 0, math.Inf(1)
	a.askBatchSystem(&c)
	if len(beside) == 0 {
		a.checkStart(&c)
	}
	if c.rejected != "" {
		c.Total = math.Inf(1)
		return c
	}
	if len(beside) == 0 && a.suffices(c.offer, c.Take, c.wall) {
		alone := a.runsAlone(c.offer, c.Take)
		c.Total, c.likely = c.Wait+alone.Mean(), c.Wait+alone.Quantile(likely)
		c.Total += a.preemption(&c)
		return c
	}
	windows, last := a.withFollowing(c.offer, append(slices.Clone(beside), c.window()))
	if c.Total = a.trials.AtLeast(windows); c.Total > limit {
		c.beaten = true
		return c
	}
	var alone *predict.Alone
	if len(beside) == 0 {
		alone = a.runsAlone(c.offer, c.Take)
	}
	runs, mean, ok := a.simulate(windows, alone, limit)
	if c.Total, c.beaten = mean, !ok; ok {
		c.Risk, c.done, c.likely = runs.Late(last), runs.Quantile(1), runs.Quantile(likely)
		c.Total += a.preemption(&c)
	}
	return c
}

// noLimit is the limit with which every candidate is evaluated, however late the job ends on it.
var noLimit = math.Inf(1)

// atLeast returns a lower bound of the expected turnaround of a candidate, for any wall time: its nodes are free for
// all of the slot, and after it the job gets the largest useful number of nodes at once.
func (a *adaptor) atLeast(c *Candidate) float64 {
	o, start, windows := c.offer, a.waitAtLeast(c), make([]predict.Window, 1, 2)
	end := start + a.longest(c)
	if !math.IsInf(end, 1) {
		windows = append(windows, o.window(o.capNodes, end-o.startUp, math.Inf(1)))
	}
	windows[0] = o.window(c.Take, start, end)
	return a.trials.AtLeast(windows)
}

// withFollowing appends windows for the case that the given ones do not suffice: allocations that are requested one
// after the other, each when the one before is over. Each has the number of nodes that ends the rest of the work
// soonest, on average, and the longest allowed wall time; the last has no end. withFollowing also returns when the
// last of the given windows ends.
func (a *adaptor) withFollowing(o *offer, windows []predict.Window) ([]predict.Window, float64) {
	last, left := 0.0, a.slotSeconds()
	for _, w := range windows {
		last = max(last, w.End)
		left -= (w.End - w.Start) * float64(max(w.TaskSlots, w.ReduceSlots))
	}
	for i, end := 1, last; !math.IsInf(end, 1); i++ {
		left = max(left, a.slotSeconds()/leftAtLeast)
		w := a.next(o, end, left, i == maxFollowing)
		windows = append(windows, w)
		end = w.End
		left -= (w.End - w.Start) * float64(max(w.TaskSlots, w.ReduceSlots))
	}
	return windows, last
}

const (
	// leftAtLeast is the divisor of the job's work that gives the least rest which is assumed when a run overruns its
	// allocations, although on average it would not.
	leftAtLeast = 20
	// maxFollowing is the largest number of allocations that are assumed to follow.
	maxFollowing = 4
)

// next returns the window of an allocation for the rest of a job when another is over. It waits until the present
// queue has room for it, and no less than the same request would wait if it were made now: other jobs arrive
// meanwhile, so the queue is assumed to stay as long as it is.
func (a *adaptor) next(o *offer, end, left float64, lasts bool) predict.Window {
	var best predict.Window
	least := math.Inf(1)
	for n := o.capNodes; ; n = max(n/2, o.minNodes) {
		run := max(left/(float64(n)*float64(max(o.taskSlots, o.reduceSlots))), a.known.inv.Map.Avg)
		c := Candidate{offer: o, PerNode: o.perNode, Take: n, wall: min(run, 2*horizon, o.maxTime)}
		c.Wait = a.waitAfter(o, end, n, c.wall)
		a.askBatchSystem(&c)
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

// slotSeconds returns how long one slot alone would need for the rest of the job, in seconds.
func (a *adaptor) slotSeconds() float64 {
	maps, reduces := a.trials.Work()
	return maps + reduces
}
