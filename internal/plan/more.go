package plan

import (
	"cmp"
	"math"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
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
	chosen  []option
	windows []predict.Window // of all, with those that are there
	place   *place           // of what follows where none of them does
}

// more adds further requests to those that were chosen, none at first where the job
// has allocations already: each time the one that shortens the expected turnaround
// most, as long as that is by more than gainBy. It returns all, the earliest first.
func (a *adaptor) more(chosen []option, places []*place) ([]option, predict.Outcome) {
	s := &several{a: a, chosen: chosen, windows: slices.Clone(a.live), place: places[0]}
	for _, o := range chosen {
		s.windows = append(s.windows, o.window(a))
		s.place = o.place
	}
	present, undone := s.present()
	for len(s.chosen) < a.allocs() && a.spent < weighing {
		limit := noLimit
		if len(s.chosen) > 0 || undone <= wanted {
			limit = present.Mean() * (1 - gainBy)
		}
		best, ok := s.next(places, present, limit)
		if !ok || best.mean > limit {
			break
		}
		best = a.fewer(best, closeTo(best), s.windows)
		s.add(a.shorter(best, s.windows))
		places = []*place{best.place}
		present, undone = s.present()
	}
	slices.SortStableFunc(s.chosen, func(x, y option) int { return cmp.Compare(x.start, y.start) })
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

func (s *several) add(o option) {
	s.chosen = append(s.chosen, o)
	s.windows = append(s.windows, o.window(s.a))
	s.place = o.place
}

// window returns what an option is to the job.
func (o *option) window(a *adaptor) predict.Window { return o.place.window(o.nodes, o.start, o.end()) }

// end returns when the option's wall time is over, in seconds from now.
func (o *option) end() float64 {
	if o.time == timeline.Unbounded {
		return math.Inf(1)
	}
	return o.start + o.time.Seconds()
}

// present returns the runs with what is there, and the share of them that it does not
// do for.
func (s *several) present() (runs predict.Outcome, undone float64) {
	windows, last := s.a.goingOn(s.place, slices.Clone(s.windows))
	runs, _, _ = s.a.simulate(windows, s.a.only(s.chosen), noLimit)
	return runs, runs.Late(last)
}

// only returns the runs on the slots of what was chosen where that is one allocation and
// nothing else is there, else nil.
func (a *adaptor) only(chosen []option) *predict.Alone {
	if len(chosen) != 1 || len(a.live) > 0 {
		return nil
	}
	return a.alone(chosen[0].place, chosen[0].nodes)
}

// next returns the further request with the least expected turnaround, as far as that is no
// longer than the limit.
func (s *several) next(places []*place, present predict.Outcome, limit float64) (best option, found bool) {
	a := s.a
	done := present.Mean()
	for _, f := range s.offers(places, done) {
		if a.spent > weighing {
			break
		}
		ok := false
		o := option{place: f.place, slot: f.slot, nodes: f.nodes}
		if o.time, ok = s.beside(&f, present); !ok {
			continue
		}
		if got := a.weigh(o, s.windows, limit); got.out == "" && !got.beaten && (!found || got.mean < best.mean) {
			best, found, limit = got, true, min(limit, got.mean)
		}
	}
	return best, found
}

// beside returns the wall time that is weighed for a further allocation: by the user's rule,
// or no longer than the job lasts without it. False: the slot is too short.
func (s *several) beside(f *offer, present predict.Outcome) (time.Duration, bool) {
	a := s.a
	if a.req.WallTime != job.WallAuto {
		t, why := a.wall(f.place, f.slot, f.nodes)
		return t, why == ""
	}
	until := present.Quantile(1) - a.seconds(f.slot.Start) + max(a.expect.Map, a.expect.Reduce)
	return min(a.longest(f.place, f.slot), a.ceil(max(until, a.least(f.place)))), a.tooShort(f.place, f.slot) == ""
}

// shorter returns a further request without the time that it has no use for, as the job
// is done sooner with it than without.
func (a *adaptor) shorter(o option, beside []predict.Window) option {
	t := a.ceil(max(o.done-o.start+max(a.expect.Map, a.expect.Reduce), a.least(o.place)))
	if a.req.WallTime != job.WallAuto || t >= o.time {
		return o
	}
	less := o
	less.time = t
	if got := a.weigh(less, beside, o.mean*(1+tightBy)); got.mean <= o.mean*(1+tightBy) && got.risk <= max(o.risk, riskBy) {
		return got
	}
	return o
}

// offers returns the free slots beside what is chosen that give the most core-seconds
// before the job is done without them.
func (s *several) offers(places []*place, done float64) []offer {
	var out []offer
	for _, p := range places {
		free := *p
		if len(s.chosen) > 0 {
			free.line = p.line.Clone()
			for _, o := range s.chosen {
				if shareNodes(p.part, o.place.part) {
					free.line.Add(s.a.instant(o.start), s.a.instant(o.end()), -o.nodes)
				}
			}
			free.slots = free.line.Slots()
		}
		for _, slot := range free.slots {
			start := s.a.seconds(slot.Start)
			n := min(slot.Nodes, s.room(p, start, s.a.seconds(slot.End())))
			worth := min(done, s.a.seconds(slot.End())) - start - p.startUp
			if n >= p.minNodes && worth > 0 {
				out = append(out, offer{&free, slot, n, -worth * float64(n*max(p.taskSlots, p.reduceSlots))})
			}
		}
	}
	slices.SortStableFunc(out, func(x, y offer) int { return cmp.Compare(x.bound, y.bound) })
	return out[:min(len(out), tries)]
}

// room returns how many nodes are of use beside those that are there in that time and
// last for another task, and may be had: the user's bound is on all of them together.
func (s *several) room(p *place, start, end float64) int {
	tasks, reduces, nodes := 0, 0, 0
	for _, w := range s.windows {
		if w.Start < end && w.End >= start+p.startUp+s.a.one() {
			tasks, reduces = tasks+w.TaskSlots, reduces+w.ReduceSlots
		}
	}
	for _, o := range s.chosen {
		if o.start < end && o.end() > start {
			nodes += o.nodes
		}
	}
	for _, l := range s.a.q.live() {
		if from, to := s.a.span(&l, p); from < end && to > start {
			nodes += l.Request.Nodes
		}
	}
	want := s.a.load.Maps
	if s.a.throttle > 0 {
		want = min(want, s.a.throttle)
	}
	n := ceilDiv(max(want-tasks, 0), p.taskSlots)
	if p.reduceSlots > 0 {
		n = max(n, ceilDiv(max(s.a.load.Reduces-reduces, 0), p.reduceSlots))
	}
	n = min(n, p.capNodes)
	if s.a.req.MaxNodes > 0 {
		n = min(n, s.a.req.MaxNodes-nodes)
	}
	return n
}

// liveWindows returns what the allocations that the job has are to it. queue is a place
// whose queue they wait in.
func (a *adaptor) liveWindows(queue *place) []predict.Window {
	var out []predict.Window
	for _, l := range a.q.live() {
		var p place
		p.taskSlots, p.reduceSlots = a.slotsOf(l.Request.PerNode)
		w := p.window(l.Request.Nodes, 0, 0)
		w.Start, w.End = a.span(&l, queue)
		if a.waits(&l) {
			w.Start += queue.startUp
		}
		if w.End > w.Start {
			out = append(out, w)
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
func (a *adaptor) span(l *job.Live, queue *place) (start, end float64) {
	start = a.seconds(l.Begins())
	if l.Begins() == 0 && a.waits(l) {
		start = a.fit(queue.queue, 0, l.Request.Nodes, l.Request.Time)
	}
	switch {
	case l.Ends != 0:
		return start, a.seconds(l.Ends)
	case l.Request.Time == 0:
		return start, math.Inf(1)
	default:
		return start, start + l.Request.Time.Seconds()
	}
}
