package plan

import (
	"cmp"
	"math"
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

const (
	// maxFurther is how many slots are evaluated for a further allocation: those with the most core-seconds before
	// the job would be done without it.
	maxFurther = 16
	// overrunLimit is the fraction of runs that may overrun the present allocations. Above it a further allocation is
	// requested in any case.
	overrunLimit = 0.5
)

// addFurther adds further requests to the chosen ones (to none where the job has allocations already): each time the
// one that shortens the expected turnaround most, as long as it shortens it by more than gainBy. It leaves the
// requests in the order of their start.
func (d *decision) addFurther() {
	offers, undone := d.offers, d.simulatePresent()
	for len(d.chosen) < d.allocs() && d.spent < maxPlaced && !d.presentMeets() {
		limit := noLimit
		if len(d.chosen) > 0 || undone <= overrunLimit {
			limit = d.runs.Mean() * (1 - gainBy)
		}
		best, ok := d.nextBest(offers, limit)
		if !ok || best.Total > limit || limit < noLimit && !d.worthEnergy(&best) {
			break
		}
		if best = d.fewerNodes(best, best.closeTo(), d.windows); d.meetsDeadline(&best) {
			limit = max(limit, d.due)
		}
		if undone, ok = d.worthAll(append(slices.Clone(d.chosen), d.shorter(best, d.windows)), limit); !ok {
			break
		}
		offers = slices.DeleteFunc(slices.Clone(offers), func(o *offer) bool { return o.view != best.offer.view })
	}
	if !d.presentMeets() {
		d.requestElsewhere()
		d.splitRequests()
	}
	d.lengthen()
	inOrder(d.chosen)
	d.takeRequests(d.chosen)
}

// inOrder sorts requests by their start, in which order they are made.
func inOrder(all []Candidate) {
	slices.SortStableFunc(all, func(x, y Candidate) int { return cmp.Compare(x.Wait, y.Wait) })
}

// allocs returns how many requests may be made; pending allocations count.
func (a *adaptor) allocs() int {
	if a.q.allocs != nil {
		return *a.q.allocs
	}
	n := a.req.MaxAllocs
	if n == 0 && a.req.WallTime == job.WallUpper {
		n = 1 // as Algorithm 1
	} else if n == 0 {
		n = defaultAllocs
	}
	for _, l := range a.q.liveAllocations() {
		if a.pending(&l) {
			n--
		}
	}
	return n
}

// simulatePresent simulates the job on the present and the chosen allocations, sets d.runs and returns the fraction
// of runs that overrun all of them. What is left then is simulated on allocations in the offer of the last choice.
func (d *decision) simulatePresent() (undone float64) {
	queue := d.offers[0]
	if n := len(d.chosen); n > 0 {
		queue = d.chosen[n-1].offer
	}
	windows, last := d.withFollowing(queue, slices.Clone(d.windows))
	d.runs, _, _ = d.simulate(windows, d.aloneRuns(d.chosen), noLimit)
	return d.runs.Late(last)
}

// aloneRuns returns the simulated runs on the nodes of the choice where that is a single allocation and no other is
// present, else nil.
func (a *adaptor) aloneRuns(chosen []Candidate) *predict.Alone {
	if len(chosen) != 1 || len(a.live) > 0 {
		return nil
	}
	return a.runsAlone(chosen[0].offer, chosen[0].Take)
}

// nextBest returns the further request with the least expected turnaround, if that is within the limit.
func (d *decision) nextBest(offers []*offer, limit float64) (best Candidate, ok bool) {
	for _, c := range d.furtherCandidates(offers) {
		if d.spent > maxPlaced {
			break
		}
		long := false
		if c.wall, long = d.furtherWallTime(&c); !long {
			continue
		}
		if got := d.evaluate(c, d.windows, limit); got.rejected == "" && !got.beaten && (!ok || got.Total < best.Total) {
			best, ok, limit = got, true, min(limit, got.Total)
		}
	}
	return best, ok
}

// furtherWallTime returns the wall time with which a further allocation is evaluated, in seconds: by the user's rule,
// or no longer than the job lasts without it. It returns false where the slot is too short.
func (d *decision) furtherWallTime(c *Candidate) (float64, bool) {
	if d.req.WallTime != job.WallAuto {
		t, why := d.wallTime(c)
		return t, why == ""
	}
	until := d.runs.Quantile(1) - c.Wait + d.endMargin()
	return min(d.longest(c), d.ceilGrain(max(until, d.leastUsefulWall(c.offer)))), d.tooShort(c) == ""
}

// shorter returns a further request without the wall time that the job does not use, because the job ends sooner with
// the allocation than without.
func (a *adaptor) shorter(c Candidate, beside []predict.Window) Candidate {
	t := a.ceilGrain(max(c.done-c.Wait+a.endMargin(), a.leastUsefulWall(c.offer)))
	if a.req.WallTime != job.WallAuto || t >= c.wall {
		return c
	}
	less := c
	less.wall = t
	if got := a.evaluate(less, beside, c.Total*(1+tightBy)); a.asGood(&got, &c, c.Total*(1+tightBy)) {
		return got
	}
	return c
}

// keepToLeft lowers the free nodes of an offer to those that the shared limits leave after the chosen requests, in
// whatever partition these are.
func (d *decision) keepToLeft(o *offer) {
	if o.left == nil {
		return
	}
	left := o.left.Clone()
	for _, c := range d.chosen {
		left.Add(d.instant(c.Wait), d.instant(c.wallEnd()), -max(c.Take, ceilDiv(c.Take*c.PerNode.CPUs, o.perNode.CPUs)))
	}
	o.line.Cap(left)
}

// furtherCandidates returns a candidate for each of the free slots, besides the chosen ones, that give the most
// core-seconds before the job is done without them.
func (d *decision) furtherCandidates(offers []*offer) []Candidate {
	var out []Candidate
	done := d.runs.Mean()
	worth := func(c *Candidate) float64 {
		o := c.offer
		return (min(done, d.seconds(c.End())) - c.Wait - o.startUp) * float64(c.Take) * float64(max(o.taskSlots, o.reduceSlots))
	}
	for _, o := range offers {
		free := *o
		if len(d.chosen) > 0 {
			free.line = o.line.Clone()
			for _, c := range d.chosen {
				if o.overlaps(c.offer) {
					free.line.Add(d.instant(c.Wait), d.instant(c.wallEnd()), -c.Take)
				}
			}
			d.keepToLeft(&free)
			free.slots = free.line.Slots()
		}
		out = slices.Grow(out, len(free.slots))
		for _, slot := range free.slots {
			c := d.candidate(&free, slot, o.minNodes)
			c.Take = min(slot.Nodes, d.usefulNodes(o, c.Wait, d.seconds(c.End())))
			if c.Take >= o.minNodes && worth(&c) > 0 {
				out = append(out, c)
			}
		}
	}
	return smallest(out, maxFurther, func(c *Candidate) float64 { return -worth(c) })
}

// usefulNodes returns how many nodes a further allocation may have between start and end: no more than the tasks can
// use that find no slot in the present allocations, and no more than the user's bound on all of them together.
func (d *decision) usefulNodes(o *offer, start, end float64) int {
	tasks, reduces := d.mostAtOnce()
	for _, w := range d.windows {
		if w.Start < end && w.End >= start+o.startUp+d.taskTime() {
			tasks, reduces = tasks-w.TaskSlots, reduces-w.ReduceSlots
		}
	}
	nodes := 0
	for _, c := range d.chosen {
		if c.Wait < end && c.wallEnd() > start || o.moves != nil { // when requests begin is not known well enough to say that they follow
			nodes += c.Take
		}
	}
	for _, l := range d.q.liveAllocations() {
		if from, to := d.span(&l, o); from < end && to > start {
			nodes += l.Request.Nodes
		}
	}
	n := min(o.nodesFor(max(tasks, 0), max(reduces, 0)), o.capNodes)
	if d.req.MaxNodes > 0 {
		n = min(n, d.req.MaxNodes-nodes)
	}
	return o.filled(n)
}

// liveWindows returns the windows of the job's present allocations. Pending ones wait in the queue of an offer.
func (a *adaptor) liveWindows(queue *offer) []predict.Window {
	var out []predict.Window
	for _, l := range a.q.roomFromStart() {
		var o offer
		o.taskSlots, o.reduceSlots = a.slotsOf(l.Request.PerNode, l.Request.Nodes)
		start, end := a.span(&l, queue)
		if a.pending(&l) {
			start += queue.startUp
		}
		if end > start {
			out = append(out, o.window(l.Request.Nodes, start, end))
		}
	}
	return out
}

// pending reports whether an allocation has not begun. The end of one with a wall time is known once it has.
func (a *adaptor) pending(l *job.Live) bool {
	return l.Begins() > a.q.Now || l.Ends == 0 && l.Request.Time > 0
}

// span returns when a present allocation begins and ends, in seconds from now. A late one is assumed to begin at
// once; one without a predicted start begins when the same request would if it were made now.
func (a *adaptor) span(l *job.Live, queue *offer) (start, end float64) {
	start = a.seconds(l.Begins())
	switch m := queue.moves; {
	case !a.pending(l):
	case m != nil: // the batch system's own prediction believes limits
		if at, ok := a.startOf(l, m); ok {
			start = at
			break
		}
		start = m.meanWait(l.Request.Nodes, limitSeconds(l.Request.Time))
		if l.Begins() != 0 {
			start = min(start, a.seconds(l.Begins()))
		}
	case l.Begins() == 0:
		start = a.freeFrom(queue.queue, 0, l.Request.Nodes, limitSeconds(l.Request.Time))
	}
	if l.Ends != 0 {
		return start, a.seconds(l.Ends)
	}
	return start, start + limitSeconds(l.Request.Time)
}

// startOf returns when a request that waits is expected to begin, in seconds from now: by its place in the queue, or as the batch system
// says if that is sooner, because it believes limits. It returns false where the queue does not show the request.
func (a *adaptor) startOf(l *job.Live, m *moving) (float64, bool) {
	place, ok := m.queue.Place(l.ID)
	if !ok {
		return 0, false
	}
	start := inSeconds(m.draws.Waiting(place).Mean())
	if l.Start > a.q.Now {
		start = min(start, a.seconds(l.Start))
	}
	return start, !math.IsInf(start, 1)
}
