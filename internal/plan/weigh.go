package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/sched"
	"berth/internal/timeline"
)

// alone returns the runs of the job on so many nodes that are there from now on and
// have no end, beside nothing else.
func (a *adaptor) alone(p *place, nodes int) *predict.Alone {
	key := runKey{p, nodes}
	o, ok := a.runs[key]
	if !ok {
		before := a.trials.Placed()
		o = a.trials.Alone(p.window(nodes, 0, math.Inf(1)))
		a.runs[key], a.spent = o, a.spent+a.trials.Placed()-before
	}
	return o
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
	shown := a.q.Rest.StartUp
	if l.maxTime > 0 {
		shown = min(shown, l.maxTime/2)
	}
	return max(usualStartUp, shown.Seconds())
}

// ready returns after what part of its wall time, in seconds, the workers of an allocation are
// ready though they are slow.
func (p *place) ready() float64 { return p.startUp + max(slowBy, slowShare*p.startUp) }

// least returns the shortest wall time that is of use, in seconds: a task may begin in it
// (sched.Span) by what the plan and the engine expect of one, although workers are slow to start;
// and twice what an attempt had run when its allocation ended, as else the same task could be
// cut short again and again. So could reduces in what is enough for a guess alone, all of
// them, one allocation after the other, until the job is given up.
func (a *adaptor) least(p *place) float64 {
	least := p.ready() + sched.Span(asDuration(a.one())).Seconds()
	if guess := a.known.inv.Reduce.Max; a.known.guessed && a.load.Reduces > 0 {
		least = max(least, p.startUp+min(guessTimes*guess, max(guess, guessMost)))
	}
	if r := a.q.Rest; r != nil {
		least = max(least, p.ready()+r.Span.Seconds(), 2*r.CutShort.Seconds())
	}
	if p.maxTime > 0 {
		least = min(least, p.maxTime.Seconds())
	}
	return least
}

// longest returns the longest wall time that can be asked for in a slot, in whole
// grains; timeline.Unbounded for no bound. Of a slot that ends a moment is left, as an
// allocation that starts late must not reach beyond it: it would not start at all.
func (a *adaptor) longest(p *place, slot timeline.Slot) time.Duration {
	limit := slot.Duration
	if limit != timeline.Unbounded {
		limit = max(limit-settle, 0).Truncate(a.grain)
	}
	if p.maxTime == 0 || limit <= p.maxTime {
		return limit
	}
	if p.maxTime < a.grain {
		return p.maxTime
	}
	return p.maxTime.Truncate(a.grain)
}

// ceil returns so many seconds as a wall time, in whole grains.
func (a *adaptor) ceil(seconds float64) time.Duration {
	if seconds > float64(math.MaxInt64/4)/float64(time.Second) {
		return timeline.Unbounded
	}
	d := time.Duration(math.Ceil(seconds * float64(time.Second)))
	return max((d + a.grain - 1).Truncate(a.grain), a.grain)
}

// safe returns a wall time in which every simulated run is done, and none of its tasks
// is held back because it might not be; the limit where that is less.
func (a *adaptor) safe(p *place, nodes int, limit time.Duration) time.Duration {
	if !a.does(p, nodes, limit) {
		return limit
	}
	return a.ceil(a.alone(p, nodes).Quantile(1) + a.held())
}

// does reports whether a wall time does for every simulated run. Where one is sure not to be
// done nothing is simulated.
func (a *adaptor) does(p *place, nodes int, t time.Duration) bool {
	if _, known := a.runs[runKey{p, nodes}]; !known && a.ceil(a.trials.LongestAtLeast([]predict.Window{p.window(nodes, 0, math.Inf(1))})+a.held()) > t {
		return false
	}
	return a.ceil(a.alone(p, nodes).Quantile(1)+a.held()) <= t
}

// held returns how long before the end of an allocation tasks are held back, in seconds.
func (a *adaptor) held() float64 { return max(a.expect.Map, a.expect.Reduce) }

// upper returns the upper bound T_up on so many nodes as a wall time, as Algorithm 1 of
// the paper asks for it.
func (a *adaptor) upper(p *place, nodes int) time.Duration {
	up := predict.Bounds(a.known.inv, predict.Shape{
		Maps: a.load.Maps, Reduces: a.load.Reduces,
		MapSlots: predict.Uniform(nodes * p.taskSlots), ReduceSlots: predict.Uniform(nodes * p.reduceSlots),
	}).Total().Up
	return a.ceil(p.startUp + up)
}

// tooShort says why a slot is of no use; empty: it is long enough for a task.
func (a *adaptor) tooShort(p *place, slot timeline.Slot) (why string) {
	if a.longest(p, slot).Seconds() < a.least(p) {
		return fmt.Sprintf("its %s are too short for one task", duration(slot.Duration.Seconds()))
	}
	return ""
}

// wall returns the wall time to ask for so many nodes in a slot: by the user's rule, or
// as much as the job is sure to need, if the slot lasts as long, and else all that it
// has. Why is not empty where there is none.
func (a *adaptor) wall(p *place, slot timeline.Slot, nodes int) (t time.Duration, why string) {
	if why := a.tooShort(p, slot); why != "" {
		return 0, why
	}
	limit, least := a.longest(p, slot), a.least(p)
	wanted, name := timeline.Unbounded, "longest time allowed"
	switch a.req.WallTime {
	case job.WallAuto:
		return min(max(a.safe(p, nodes, limit), a.ceil(least)), limit), ""
	case job.WallUpper:
		wanted, name = max(a.upper(p, nodes), a.ceil(least)), "upper bound"
	}
	if p.maxTime > 0 {
		wanted = min(wanted, a.longest(p, timeline.Slot{Duration: timeline.Unbounded}))
	}
	if limit < wanted {
		return 0, fmt.Sprintf("its %s are less than the %s", duration(slot.Duration.Seconds()), name)
	}
	return wanted, ""
}

// weigh says what the job makes of an option's nodes of its slot for its wall time, beside
// the allocations that it has already. Where that is sure to be done later than the limit it
// is not simulated: the expected turnaround is then a bound from below.
func (a *adaptor) weigh(o option, beside []predict.Window, limit float64) option {
	o.start, o.risk, o.done = a.seconds(o.slot.Start), 0, 0
	a.check(&o)
	if o.out != "" {
		o.mean = math.Inf(1)
		return o
	}
	if len(beside) == 0 && a.does(o.place, o.nodes, o.time) {
		o.mean = o.start + a.alone(o.place, o.nodes).Mean()
		return o
	}
	windows, last := a.goingOn(o.place, append(slices.Clone(beside), o.window(a)))
	if o.mean = a.trials.AtLeast(windows); o.mean > limit {
		o.beaten = true
		return o
	}
	var alone *predict.Alone
	if len(beside) == 0 {
		alone = a.alone(o.place, o.nodes)
	}
	runs, mean, ok := a.simulate(windows, alone, limit)
	if o.mean, o.beaten = mean, !ok; ok {
		o.risk, o.done = runs.Late(last), runs.Quantile(1)
	}
	return o
}

// noLimit has an option weighed however late it is.
var noLimit = math.Inf(1)

// atLeast returns a bound from below on the expected turnaround of so many nodes of a slot,
// for whatever wall time: they have all of the slot, and after it the job has at once as many
// nodes as are of use.
func (a *adaptor) atLeast(p *place, slot timeline.Slot, nodes int) float64 {
	start, windows := a.seconds(slot.Start), make([]predict.Window, 1, 2)
	end := math.Inf(1)
	if t := a.longest(p, slot); t != timeline.Unbounded {
		end = start + t.Seconds()
		windows = append(windows, p.window(p.capNodes, end-p.startUp, math.Inf(1)))
	}
	windows[0] = p.window(nodes, start, end)
	return a.trials.AtLeast(windows)
}

// goingOn adds what follows where the windows do not do: allocations that are asked for
// one after the other, each when the last one is over. Each is as large as ends what is
// then left soonest, if all goes as on average, and as long as is allowed; the last has
// no end. goingOn also returns when the last of the given windows ends.
func (a *adaptor) goingOn(p *place, windows []predict.Window) ([]predict.Window, float64) {
	last, left := 0.0, a.work()
	for _, w := range windows {
		last = max(last, w.End)
		left -= (w.End - w.Start) * float64(max(w.TaskSlots, w.ReduceSlots))
	}
	for i, end := 1, last; !math.IsInf(end, 1); i++ {
		left = max(left, a.work()/leftAtLeast)
		w := a.next(p, end, left, i == maxFollowing)
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
func (a *adaptor) next(p *place, end, left float64, lasts bool) predict.Window {
	var best predict.Window
	least := math.Inf(1)
	for n := p.capNodes; ; n = max(n/2, p.minNodes) {
		run := max(left/float64(n*max(p.taskSlots, p.reduceSlots)), a.known.inv.Map.Avg)
		o := option{place: p, nodes: n, time: asDuration(run)}
		if p.maxTime > 0 {
			o.time = min(o.time, p.maxTime)
		}
		o.start = max(a.fit(p.line, end, n, o.time), end+a.fit(p.queue, 0, n, o.time))
		a.check(&o)
		if (o.out == "" || n == p.minNodes) && o.start+run < least {
			least, best = o.start+run, p.window(n, o.start, math.Inf(1))
			if p.maxTime > 0 && !lasts {
				best.End = o.start + p.maxTime.Seconds()
			}
		}
		if n == p.minNodes {
			return best
		}
	}
}

// fit returns when so many nodes are free for so long, not before that time; in seconds
// from now.
func (a *adaptor) fit(line *timeline.Timeline, from float64, nodes int, t time.Duration) float64 {
	if at, ok := line.EarliestFit(a.instant(from), nodes, t); ok {
		return a.seconds(at)
	}
	return from + never
}

// work returns how long one slot alone would take for what is left of the job, in seconds.
func (a *adaptor) work() float64 {
	maps, reduces := a.trials.Work()
	return maps + reduces
}
