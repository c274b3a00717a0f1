package batch

import (
	"math"
	"time"

	"berth/internal/cluster"
	"berth/internal/job"
)

// freed is time in which nodes became free.
type freed struct{ from, to job.Time }

// sweep has all reservations move that can, in the order of arrival.
//
// A job has a reservation at the earliest start there was when it looked last. What kept it
// from any earlier one were instants, before its reservation, of too few free nodes: those
// that the reservation takes were its own. So it can move only if enough nodes became free
// at one of these since. That is asked of all that became free together.
func (c *cbf) sweep(now job.Time) {
	from, most := cluster.Never, 0
	for _, f := range c.freed {
		if f.from = max(f.from, now); f.from < f.to {
			from, most = min(from, f.from), max(most, c.line.Max(f.from, f.to))
		}
	}
	c.freed = c.freed[:0]
	if most == 0 {
		return
	}
	for i := range c.queue.waits {
		w := &c.queue.waits[i]
		if w.at <= from || int(w.nodes) > most {
			continue
		}
		at, ok := c.line.EarlierFit(back(from, w.d), w.at, int(w.nodes), w.d)
		if !ok {
			continue
		}
		if f := c.move(w, at); f.from < f.to {
			c.freed = append(c.freed, f)
			from, most = min(from, f.from), max(most, c.line.Max(f.from, f.to))
		}
	}
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
	if was == cluster.Never {
		return freed{}
	}
	f := freed{max(was, end), after(was, w.d)}
	c.line.Add(f.from, f.to, int(w.nodes))
	return f
}
