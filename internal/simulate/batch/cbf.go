package batch

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// cbf is conservative backfilling with compression, as implemented by the simulator pyss. An
// arriving job gets the earliest reservation that delays no other job. After a job has ended or was
// cancelled, or nodes were added, a sweep goes through the queue in the order of arrival and moves
// each reservation to the earliest possible start, which is never later. What a moved job frees is
// available to the jobs before it at the next sweep. The end of a job at its limit also causes a
// sweep.
type cbf struct {
	*System
	first job.Time // the earliest reservation, or timeline.Never
	freed []span   // times in which nodes became free since the last sweep, or during it behind jobs already passed
}

// span is the time from one instant until before another.
type span struct{ from, to job.Time }

// span returns the time of the reservation, which must exist.
func (w *request) span() span { return span{w.at, timeline.After(w.at, w.limit)} }

func (c *cbf) submit(now job.Time, w *request) { c.reserveEarliest(now, w) }

// reserveEarliest reserves the earliest slot for a job without a reservation.
func (c *cbf) reserveEarliest(now job.Time, w *request) {
	at, ok := c.line.EarliestFit(now, int(w.nodes), w.limit)
	if !ok {
		at = timeline.Never
	}
	c.setStart(w, at)
	if ok {
		c.line.Add(at, w.span().to, -int(w.nodes))
	}
}

// setStart sets the start of a reservation.
func (c *cbf) setStart(w *request, at job.Time) {
	w.at = at
	c.first = min(c.first, at)
}

func (c *cbf) cancel(now job.Time, w request, _ int) {
	if w.at != timeline.Never {
		c.release(w.span(), int(w.nodes))
	}
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
	e := &c.jobs[id]
	c.release(span{now, e.end()}, e.Nodes)
	c.sweep(now)
}

// release marks nodes as free for a span.
func (c *cbf) release(s span, nodes int) {
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
	c.queue = slices.DeleteFunc(c.queue, func(w request) bool {
		if w.at == now {
			ids = append(ids, w.id)
		}
		return w.at == now
	})
	c.findFirst()
	return ids
}

func (c *cbf) next() job.Time { return c.first }

func (c *cbf) timeline(job.Time) *timeline.Timeline { return c.line }

func (c *cbf) planned(place int) job.Time { return c.queue[place].at }

func (c *cbf) resize(now job.Time, more int) {
	if more > 0 {
		c.release(span{now, timeline.Never}, more)
	} else {
		c.shrink(now)
	}
	c.sweep(now)
	c.findFirst()
}

// shrink keeps the reservations that still fit and moves the others to their earliest slots, both in
// the order of arrival.
func (c *cbf) shrink(now job.Time) {
	c.line = c.runningTimeline(now)
	var anew []*request
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
		c.reserveEarliest(now, w)
	}
	c.freed = append(c.freed[:0], span{now, timeline.Never})
}

// sweep moves all reservations that can start earlier.
//
// At its last check each job got the earliest start then possible. The starts before it were blocked
// by instants with too few free nodes that precede the reservation, because the nodes of the
// reservation itself are the job's own. So the job can move only if enough nodes have become free at
// one of these instants.
func (c *cbf) sweep(now job.Time) {
	first, most := timeline.Never, 0 // all freed nodes are at or after first, and at most most of them at a time
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
	queue, line := c.queue, c.line
	for i := 0; i < len(queue) && most > 0; i++ {
		w := &queue[i]
		if w.at <= first || int(w.nodes) > most {
			continue
		}
		if at, ok := line.EarlierFit(back(first, w.limit), w.at, int(w.nodes), w.limit); ok {
			if s := c.move(w, at); s.from < s.to {
				c.freed = append(c.freed, s)
				open(s)
			}
		}
	}
}

// back returns the earliest start for a duration d such that the end is after the instant at.
func back(at job.Time, d time.Duration) job.Time {
	if at < math.MinInt64+job.Time(d) {
		return math.MinInt64
	}
	return at.Add(1 - d)
}

// move moves a reservation to an earlier start and returns the span that became free.
func (c *cbf) move(w *request, at job.Time) span {
	was, nodes := w.span(), int(w.nodes)
	c.setStart(w, at)
	end := w.span().to
	c.line.Add(at, min(end, was.from), -nodes)
	if was.from == timeline.Never {
		return span{}
	}
	s := span{max(was.from, end), was.to}
	c.line.Add(s.from, s.to, nodes)
	return s
}
