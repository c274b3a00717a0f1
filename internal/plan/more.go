package plan

import (
	"cmp"
	"slices"

	"berth/internal/job"
	"berth/internal/predict"
)

const (
	// tries is how many slots are weighed for a further allocation: those with the most
	// core-seconds before the job would be done without.
	tries = 16
	// wanted is the share of runs that what is there need not do for; of a job for which it
	// does less, something is asked for in any case.
	wanted = 0.5
)

// more adds further requests to those that were chosen, none at first where the job
// has allocations already: each time the one that shortens the expected turnaround
// most, as long as that is by more than gainBy. It leaves them in the order of their start.
func (d *decision) more() {
	offers, undone := d.offers, d.present()
	for len(d.chosen) < d.allocs() && d.spent < weighing {
		limit := noLimit
		if len(d.chosen) > 0 || undone <= wanted {
			limit = d.runs.Mean() * (1 - gainBy)
		}
		best, ok := d.nextBest(offers, limit)
		if !ok || best.Total > limit || limit < noLimit && !d.pays(&best) {
			break
		}
		best = d.fewer(best, best.closeTo(), d.windows)
		d.add(d.shorter(best, d.windows))
		offers = []*offer{best.offer}
		undone = d.present()
	}
	slices.SortStableFunc(d.chosen, func(x, y Candidate) int { return cmp.Compare(x.Wait, y.Wait) })
	d.windows = slices.Clone(d.live)
	for _, c := range d.chosen {
		d.windows = append(d.windows, c.window())
	}
}

// allocs returns how many requests may be made: those that wait already count.
func (a *adaptor) allocs() int {
	n := a.req.MaxAllocs
	if n == 0 {
		n = defaultAllocs
	}
	for _, l := range a.q.live() {
		if a.waits(&l) {
			n--
		}
	}
	return n
}

// present finds the runs with what is there, and returns the share of them that it does not
// do for. Where none of it does, more is asked for where the last was.
func (d *decision) present() (undone float64) {
	queue := d.offers[0]
	if n := len(d.chosen); n > 0 {
		queue = d.chosen[n-1].offer
	}
	windows, last := d.goingOn(queue, slices.Clone(d.windows))
	d.runs, _, _ = d.simulate(windows, d.only(d.chosen), noLimit)
	return d.runs.Late(last)
}

// only returns the runs on the slots of what was chosen where that is one allocation and
// nothing else is there, else nil.
func (a *adaptor) only(chosen []Candidate) *predict.Alone {
	if len(chosen) != 1 || len(a.live) > 0 {
		return nil
	}
	return a.alone(chosen[0].offer, chosen[0].Take)
}

// nextBest returns the further request with the least expected turnaround, as far as that is no
// longer than the limit.
func (d *decision) nextBest(offers []*offer, limit float64) (best Candidate, ok bool) {
	for _, c := range d.foundBeside(offers) {
		if d.spent > weighing {
			break
		}
		long := false
		if c.wall, long = d.beside(&c); !long {
			continue
		}
		if got := d.weigh(c, d.windows, limit); got.rejected == "" && !got.beaten && (!ok || got.Total < best.Total) {
			best, ok, limit = got, true, min(limit, got.Total)
		}
	}
	return best, ok
}

// beside returns the wall time that is weighed for a further allocation: by the user's rule,
// or no longer than the job lasts without it. False: the slot is too short.
func (d *decision) beside(c *Candidate) (float64, bool) {
	if d.req.WallTime != job.WallAuto {
		t, why := d.wall(c)
		return t, why == ""
	}
	until := d.runs.Quantile(1) - c.Wait + d.held()
	return min(d.longest(c), d.ceil(max(until, d.least(c.offer)))), d.tooShort(c) == ""
}

// shorter returns a further request without the time that it has no use for, as the job
// is done sooner with it than without.
func (a *adaptor) shorter(c Candidate, beside []predict.Window) Candidate {
	t := a.ceil(max(c.done-c.Wait+a.held(), a.least(c.offer)))
	if a.req.WallTime != job.WallAuto || t >= c.wall {
		return c
	}
	less := c
	less.wall = t
	if got := a.weigh(less, beside, c.Total*(1+tightBy)); got.Total <= c.Total*(1+tightBy) && got.Risk <= max(c.Risk, riskBy) {
		return got
	}
	return c
}

// foundBeside returns a candidate for each of the free slots beside what is chosen that give the most
// core-seconds before the job is done without them.
func (d *decision) foundBeside(offers []*offer) []Candidate {
	var out []Candidate
	done := d.runs.Mean()
	worth := func(c *Candidate) float64 {
		o := c.offer
		return (min(done, d.seconds(c.End())) - c.Wait - o.startUp) * float64(c.Take*max(o.taskSlots, o.reduceSlots))
	}
	for _, o := range offers {
		free := *o
		if len(d.chosen) > 0 {
			free.line = o.line.Clone()
			for _, c := range d.chosen {
				if o.overlaps(c.offer) {
					free.line.Add(d.instant(c.Wait), d.instant(c.end()), -c.Take)
				}
			}
			free.slots = free.line.Slots()
		}
		for _, slot := range free.slots {
			c := d.candidate(&free, slot, 0)
			c.Take = min(slot.Nodes, d.room(o, c.Wait, d.seconds(c.End())))
			if c.Take >= o.minNodes && worth(&c) > 0 {
				out = append(out, c)
			}
		}
	}
	return least(out, tries, func(c *Candidate) float64 { return -worth(c) })
}

// room returns how many nodes are of use beside those that are there in that time and
// last for another task, and may be had: the user's bound is on all of them together.
func (d *decision) room(o *offer, start, end float64) int {
	tasks, reduces := d.width()
	for _, w := range d.windows {
		if w.Start < end && w.End >= start+o.startUp+d.one() {
			tasks, reduces = tasks-w.TaskSlots, reduces-w.ReduceSlots
		}
	}
	nodes := 0
	for _, c := range d.chosen {
		if c.Wait < end && c.end() > start {
			nodes += c.Take
		}
	}
	for _, l := range d.q.live() {
		if from, to := d.span(&l, o); from < end && to > start {
			nodes += l.Request.Nodes
		}
	}
	n := min(o.nodesFor(max(tasks, 0), max(reduces, 0)), o.capNodes)
	if d.req.MaxNodes > 0 {
		n = min(n, d.req.MaxNodes-nodes)
	}
	return n
}

// liveWindows returns what the allocations that the job has are to it. They wait in
// the queue of an offer.
func (a *adaptor) liveWindows(queue *offer) []predict.Window {
	var out []predict.Window
	for _, l := range a.q.live() {
		var o offer
		o.taskSlots, o.reduceSlots = a.slotsOf(l.Request.PerNode)
		start, end := a.span(&l, queue)
		if a.waits(&l) {
			start += queue.startUp
		}
		if end > start {
			out = append(out, o.window(l.Request.Nodes, start, end))
		}
	}
	return out
}

// waits reports whether an allocation has not begun: one with a wall time that has is
// known to end.
func (a *adaptor) waits(l *job.Live) bool {
	return l.Begins() > a.q.Now || l.Ends == 0 && l.Request.Time > 0
}

// span returns when an allocation that the job has begins and ends, in seconds from now.
// One that is late begins any moment; one of which nothing is known when such a request
// would if it were made now.
func (a *adaptor) span(l *job.Live, queue *offer) (start, end float64) {
	start = a.seconds(l.Begins())
	if l.Begins() == 0 && a.waits(l) {
		start = a.fit(queue.queue, 0, l.Request.Nodes, limitSeconds(l.Request.Time))
	}
	if l.Ends != 0 {
		return start, a.seconds(l.Ends)
	}
	return start, start + limitSeconds(l.Request.Time)
}
