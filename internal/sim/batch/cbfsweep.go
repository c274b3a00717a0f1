package batch

import (
	"math"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// freed is time in which nodes became free.
type freed struct{ from, to job.Time }

// sweep is what passes through the queue in the order of arrival need to know, in which each
// reservation moves to the earliest start that there is then.
//
// A job has a reservation at the earliest start there was when it looked last. What kept it
// from any earlier one were instants, before its reservation, of too few free nodes: those
// that the reservation takes were its own. So it can move only if enough nodes became free
// at one of these since: either it fits as a whole into what opened there, or it comes
// forward to what opened just before its reservation. In a long queue openings are told
// apart; in a short one they all count for one, and a search of the few steps is as quick.
type sweep struct {
	freed []freed // since the last sweep, and what that left over to jobs that it had passed

	short       int      // how long a queue is at most in which openings are not told apart
	long        bool     // the queue is longer
	first, last job.Time // before and after which nothing became free
	most        int      // nodes that are free at once in what became free
	holes       openings
}

// sweepQueue has all reservations move that can.
func (c *cbf) sweepQueue(now job.Time) {
	s := &c.sweep
	s.long = len(c.queue.waits)-c.queue.gaps > s.short
	s.first, s.last, s.most = timeline.Never, math.MinInt64, 0
	if s.long && len(s.freed) > 0 {
		s.holes.close()
	}
	for _, f := range s.freed {
		if f.from = max(f.from, now); f.from < f.to {
			c.open(f)
		}
	}
	s.freed = s.freed[:0]
	if s.most == 0 {
		return
	}
	for i := range c.queue.waits {
		w := &c.queue.waits[i]
		if w.at <= s.first || int(w.nodes) > s.most {
			continue
		}
		if at, ok := c.earlier(w); ok {
			if f := c.move(w, at); f.from < f.to {
				s.freed = append(s.freed, f)
				c.open(f)
			}
		}
	}
}

// open takes in that nodes became free.
func (c *cbf) open(f freed) {
	most := c.line.Max(f.from, f.to)
	if most <= 0 {
		return
	}
	s := &c.sweep
	s.first, s.last, s.most = min(s.first, f.from), max(s.last, f.to), max(s.most, most)
	if s.long {
		s.holes.open(c.line, f, most)
	}
}

// earlier returns the earliest start of a job, if it is earlier than the present one.
func (c *cbf) earlier(w *wait) (job.Time, bool) {
	s, nodes := &c.sweep, int(w.nodes)
	if !s.long {
		return c.line.EarlierFit(back(s.first, w.d), w.at, nodes, w.d)
	}
	from := s.holes.earliest(nodes, w.d)
	if from >= back(w.at, w.d) {
		if w.at > s.last {
			return 0, false
		}
		at := max(c.line.RiseBefore(w.at, nodes), back(w.at, w.d))
		return at, at < w.at
	}
	at, ok := c.line.EarlierFit(from, w.at, nodes, w.d)
	if ok {
		s.holes.pass(nodes, w.d, at)
	} else {
		s.holes.pass(nodes, w.d, w.at)
	}
	return at, ok
}

// back returns the first instant at which something for d can begin that is not over at
// another.
func back(at job.Time, d time.Duration) job.Time {
	if at < math.MinInt64+job.Time(d) {
		return math.MinInt64
	}
	return at.Add(1 - d)
}

// move has a job start earlier than it was to, and returns what became free.
func (c *cbf) move(w *wait, at job.Time) freed {
	was, end := w.at, after(at, w.d)
	c.line.Add(at, min(end, was), -int(w.nodes))
	w.at = at
	c.due.move(w.id, at)
	if was == timeline.Never {
		return freed{}
	}
	f := freed{max(was, end), after(was, w.d)}
	c.line.Add(f.from, f.to, int(w.nodes))
	return f
}
