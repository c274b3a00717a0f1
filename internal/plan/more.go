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

// several is the allocations that a job has and is to get, while they are chosen.
type several struct {
	a       *adaptor
	chosen  []Candidate
	windows []predict.Window // of all, with those that are there
	queue   *offer           // of what follows where none of them does
}

// more adds further requests to those that were chosen, none at first where the job
// has allocations already: each time the one that shortens the expected turnaround
// most, as long as that is by more than gainBy. It returns all, the earliest first.
func (a *adaptor) more(chosen []Candidate, offers []*offer) ([]Candidate, predict.Outcome) {
	s := &several{a: a, windows: slices.Clone(a.live), queue: offers[0]}
	for _, c := range chosen {
		s.add(c)
	}
	present, undone := s.present()
	for len(s.chosen) < a.allocs() && a.spent < weighing {
		limit := noLimit
		if len(s.chosen) > 0 || undone <= wanted {
			limit = present.Mean() * (1 - gainBy)
		}
		best, ok := s.next(offers, present, limit)
		if !ok || best.Total > limit {
			break
		}
		best = a.fewer(best, best.closeTo(), s.windows)
		s.add(a.shorter(best, s.windows))
		offers = []*offer{best.offer}
		present, undone = s.present()
	}
	slices.SortStableFunc(s.chosen, func(x, y Candidate) int { return cmp.Compare(x.Wait, y.Wait) })
	return s.chosen, present
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

func (s *several) add(c Candidate) {
	s.chosen = append(s.chosen, c)
	s.windows = append(s.windows, c.window())
	s.queue = c.offer
}

// present returns the runs with what is there, and the share of them that it does not
// do for.
func (s *several) present() (runs predict.Outcome, undone float64) {
	windows, last := s.a.goingOn(s.queue, slices.Clone(s.windows))
	runs, _, _ = s.a.simulate(windows, s.a.only(s.chosen), noLimit)
	return runs, runs.Late(last)
}

// only returns the runs on the slots of what was chosen where that is one allocation and
// nothing else is there, else nil.
func (a *adaptor) only(chosen []Candidate) *predict.Alone {
	if len(chosen) != 1 || len(a.live) > 0 {
		return nil
	}
	return a.alone(chosen[0].offer, chosen[0].Take)
}

// next returns the further request with the least expected turnaround, as far as that is no
// longer than the limit.
func (s *several) next(offers []*offer, present predict.Outcome, limit float64) (best Candidate, found bool) {
	a := s.a
	done := present.Mean()
	for _, c := range s.found(offers, done) {
		if a.spent > weighing {
			break
		}
		ok := false
		if c.wall, ok = s.beside(&c, present); !ok {
			continue
		}
		if got := a.weigh(c, s.windows, limit); got.rejected == "" && !got.beaten && (!found || got.Total < best.Total) {
			best, found, limit = got, true, min(limit, got.Total)
		}
	}
	return best, found
}

// beside returns the wall time that is weighed for a further allocation: by the user's rule,
// or no longer than the job lasts without it. False: the slot is too short.
func (s *several) beside(c *Candidate, present predict.Outcome) (float64, bool) {
	a := s.a
	if a.req.WallTime != job.WallAuto {
		t, why := a.wall(c)
		return t, why == ""
	}
	until := present.Quantile(1) - c.Wait + a.held()
	return min(a.longest(c), a.ceil(max(until, a.least(c.offer)))), a.tooShort(c) == ""
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

// found returns a candidate for each of the free slots beside what is chosen that give the most
// core-seconds before the job is done without them.
func (s *several) found(offers []*offer, done float64) []Candidate {
	var out []Candidate
	worth := func(c *Candidate) float64 {
		o := c.offer
		return (min(done, s.a.seconds(c.End())) - c.Wait - o.startUp) * float64(c.Take*max(o.taskSlots, o.reduceSlots))
	}
	for _, o := range offers {
		free := *o
		if len(s.chosen) > 0 {
			free.line = o.line.Clone()
			for _, c := range s.chosen {
				if o.overlaps(c.offer) {
					free.line.Add(s.a.instant(c.Wait), s.a.instant(c.end()), -c.Take)
				}
			}
			free.slots = free.line.Slots()
		}
		for _, slot := range free.slots {
			c := s.a.candidate(&free, slot, 0)
			c.Take = min(slot.Nodes, s.room(o, c.Wait, s.a.seconds(c.End())))
			if c.Take >= o.minNodes && worth(&c) > 0 {
				out = append(out, c)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y Candidate) int { return cmp.Compare(worth(&y), worth(&x)) })
	return out[:min(len(out), tries)]
}

// room returns how many nodes are of use beside those that are there in that time and
// last for another task, and may be had: the user's bound is on all of them together.
func (s *several) room(o *offer, start, end float64) int {
	tasks, reduces := s.a.width()
	for _, w := range s.windows {
		if w.Start < end && w.End >= start+o.startUp+s.a.one() {
			tasks, reduces = tasks-w.TaskSlots, reduces-w.ReduceSlots
		}
	}
	nodes := 0
	for _, c := range s.chosen {
		if c.Wait < end && c.end() > start {
			nodes += c.Take
		}
	}
	for _, l := range s.a.q.live() {
		if from, to := s.a.span(&l, o); from < end && to > start {
			nodes += l.Request.Nodes
		}
	}
	n := min(o.nodesFor(max(tasks, 0), max(reduces, 0)), o.capNodes)
	if s.a.req.MaxNodes > 0 {
		n = min(n, s.a.req.MaxNodes-nodes)
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
