package batch

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// cbf is conservative backfilling with compression, as the simulator pyss understands it.
// An arriving job gets the earliest place that delays nobody. Whenever a job has ended (or is
// cancelled, or nodes have come) there is a sweep: the queue is gone through in the order of
// arrival, and each reservation moves to the earliest start that there is then, which is
// never later. What a job frees as it moves can be had by those before it at the next sweep,
// which the end of a job that used all its time brings as well.
type cbf struct {
	sys   *System
	line  *timeline.Timeline // what is free under all reservations
	queue []reserved         // what waits, in the order of arrival
	first job.Time           // the earliest reservation, timeline.Never for none
	freed []span             // since the last sweep, and what that left over to jobs that it had passed
}

// reserved is a waiting job and its reservation.
type reserved struct {
	at    job.Time // timeline.Never: it has none
	limit time.Duration
	nodes int32
	id    ID
}

// span is the time from an instant until before another.
type span struct{ from, to job.Time }

// span returns the time of the reservation, which there is.
func (w *reserved) span() span { return span{w.at, after(w.at, w.limit)} }

func newCBF(s *System) *cbf {
	return &cbf{sys: s, line: timeline.New(math.MinInt64, s.nodes), first: timeline.Never}
}

func (c *cbf) submit(now job.Time, id ID) {
	c.line.Advance(now)
	e := &c.sys.jobs[id]
	c.queue = append(c.queue, reserved{limit: e.Limit, nodes: int32(e.Nodes), id: id})
	c.place(now, &c.queue[len(c.queue)-1])
}

// place reserves the earliest place for a job that has none.
func (c *cbf) place(now job.Time, w *reserved) {
	at, ok := c.line.EarliestFit(now, int(w.nodes), w.limit)
	if !ok {
		at = timeline.Never
	}
	c.reserve(w, at)
	if ok {
		c.line.Add(at, w.span().to, -int(w.nodes))
	}
}

// reserve notes when a job is to start.
func (c *cbf) reserve(w *reserved, at job.Time) {
	w.at, c.sys.jobs[w.id].Start = at, at
	c.first = min(c.first, at)
}

func (c *cbf) cancel(now job.Time, id ID) {
	c.line.Advance(now)
	i := slices.IndexFunc(c.queue, func(w reserved) bool { return w.id == id })
	if w := c.queue[i]; w.at != timeline.Never {
		c.free(w.span(), int(w.nodes))
	}
	c.queue = slices.Delete(c.queue, i, i+1)
	c.sweep(now)
	c.findFirst()
}

// findFirst finds the earliest reservation.
func (c *cbf) findFirst() {
	c.first = timeline.Never
	for i := range c.queue {
		c.first = min(c.first, c.queue[i].at)
	}
}

func (c *cbf) end(now job.Time, id ID) {
	e := &c.sys.jobs[id]
	c.line.Advance(now)
	c.free(span{now, after(e.Start, e.Limit)}, e.Nodes)
	c.sweep(now)
}

// free makes nodes free.
func (c *cbf) free(s span, nodes int) {
	if s.from < s.to {
		c.line.Add(s.from, s.to, nodes)
		c.freed = append(c.freed, s)
	}
}

func (c *cbf) start(now job.Time, ids []ID) []ID {
	if c.first > now {
		return ids
	}
	if c.first < now {
		panic(fmt.Sprintf("batch: a job was to start at %d and it is %d", c.first, now))
	}
	c.queue = slices.DeleteFunc(c.queue, func(w reserved) bool {
		if w.at == now {
			ids = append(ids, w.id)
		}
		return w.at == now
	})
	c.findFirst()
	return ids
}

func (c *cbf) next() job.Time { return c.first }

func (c *cbf) timeline(now job.Time) *timeline.Timeline {
	c.line.Advance(now)
	return c.line
}

func (c *cbf) planned(id ID) job.Time { return c.sys.jobs[id].Start }

func (c *cbf) resize(now job.Time, more int) {
	c.line.Advance(now)
	if more > 0 {
		c.free(span{now, timeline.Never}, more)
	} else {
		c.shrink(now)
	}
	c.sweep(now)
	c.findFirst()
}

// shrink makes reservations that cannot be kept anew: first each that can be is kept, then
// the others get the earliest places, all in the order of arrival.
func (c *cbf) shrink(now job.Time) {
	c.line = c.sys.held(now)
	var anew []*reserved
	for i := range c.queue {
		switch w := &c.queue[i]; {
		case w.at == timeline.Never:
		case c.line.Min(w.at, w.span().to) >= int(w.nodes):
			c.line.Add(w.at, w.span().to, -int(w.nodes))
		default:
			anew = append(anew, w)
		}
	}
	for _, w := range anew {
		c.place(now, w)
	}
	c.freed = append(c.freed[:0], span{now, timeline.Never})
}

// sweep has all reservations move that can.
//
// A job has a reservation at the earliest start there was when it looked last. What kept it
// from any earlier one were instants, before its reservation, of too few free nodes: those
// that the reservation takes were its own. So it can move only if enough nodes became free
// at one of these since.
func (c *cbf) sweep(now job.Time) {
	first, most := timeline.Never, 0 // nothing became free before first, nowhere more nodes than most
	open := func(s span) {
		if n := c.line.Max(s.from, s.to); n > 0 {
			first, most = min(first, s.from), max(most, n)
		}
	}
	for _, s := range c.freed {
		if s.from = max(s.from, now); s.from < s.to {
			open(s)
		}
	}
	c.freed = c.freed[:0]
	for i := 0; i < len(c.queue) && most > 0; i++ {
		w := &c.queue[i]
		if w.at <= first || int(w.nodes) > most {
			continue
		}
		if at, ok := c.line.EarlierFit(back(first, w.limit), w.at, int(w.nodes), w.limit); ok {
			if s := c.move(w, at); s.from < s.to {
				c.freed = append(c.freed, s)
				open(s)
			}
		}
	}
}

// back returns the first instant at which something that takes d can begin that is not over at another.
func back(at job.Time, d time.Duration) job.Time {
	if at < math.MinInt64+job.Time(d) {
		return math.MinInt64
	}
	return at.Add(1 - d)
}

// move has a job start earlier than it was to, and returns what became free.
func (c *cbf) move(w *reserved, at job.Time) span {
	was, nodes := w.span(), int(w.nodes)
	c.reserve(w, at)
	end := w.span().to
	c.line.Add(at, min(end, was.from), -nodes)
	if was.from == timeline.Never {
		return span{}
	}
	s := span{max(was.from, end), was.to}
	c.line.Add(s.from, s.to, nodes)
	return s
}
