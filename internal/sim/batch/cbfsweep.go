package batch

import (
	"math"
	"math/bits"
	"time"

	"berth/internal/job"
)

// stretch is time in which nodes became free and that a sweep is to give away.
//
// A job has a reservation at the earliest start there was when it looked last. What kept it
// from any earlier one were instants, before its reservation, of too few free nodes: those
// that the reservation takes were its own. So it can move only if one of these is in a
// stretch that became free since: the stretch begins before the reservation and has enough
// nodes free; and either the job as a whole fits into what is free there, or the stretch
// reaches up to its reservation, so that it can come forward a little.
//
// What was tried in vain is remembered: what takes as many nodes and as much time fits
// nowhere in the stretch, as within a sweep what becomes free makes a stretch of its own.
type stretch struct {
	from, to   job.Time
	most       int   // nodes that are free in it, at most
	seen, last int32 // jobs whose turns are between are to have a look
	next       ID    // the first of them that may move

	// fits is, by class of nodes, less than how long a job must be to fit.
	fits  [classes]time.Duration
	tried [4]shape
	tries int
}

// shape is a job as it is placed.
type shape struct {
	nodes int
	d     time.Duration
}

// classes is how many classes of nodes there are: two to the power of the class, and more up
// to the next power; in the last class however many.
const classes = 12

func classOf(nodes int) int { return min(bits.Len(uint(nodes))-1, classes-1) }

// fail takes down that a job of that shape fits nowhere in the stretch.
func (s *stretch) fail(f shape) {
	c := classOf(f.nodes)
	if f.nodes > 1<<c {
		s.tried[s.tries%len(s.tried)] = f
		s.tries++
		c++
	}
	for ; c < classes; c++ {
		s.fits[c] = min(s.fits[c], f.d)
	}
}

// hopeless reports whether it is known that a job fits nowhere in the stretch as a whole.
func (s *stretch) hopeless(nodes int, d time.Duration) bool {
	if d >= s.fits[classOf(nodes)] {
		return true
	}
	for _, f := range s.tried[:min(s.tries, len(s.tried))] {
		if nodes >= f.nodes && d >= f.d {
			return true
		}
	}
	return false
}

// sweep has all reservations move that can, in the order of arrival.
func (c *cbf) sweep(now job.Time) {
	if len(c.freed) == 0 {
		return
	}
	for _, f := range c.freed {
		f.from = max(f.from, now)
		if f.from < f.to {
			c.add(f, 0, f.before)
		}
	}
	c.freed = c.freed[:0]
	for len(c.ahead) > 0 {
		turn := c.ahead[0].key
		id := c.open[c.ahead[0].of].next
		from := c.open[c.ahead[0].of].from
		c.both = c.both[:0]
		for len(c.ahead) > 0 && c.ahead[0].key == turn {
			k := c.ahead.pop()
			c.both = append(c.both, k)
			from = min(from, c.open[k].from)
		}
		c.consider(now, id, from)
		for _, k := range c.both {
			c.open[k].seen = turn
			c.look(k)
		}
	}
	c.open = c.open[:0]
}

// add opens a stretch to those whose turns are between. It reports whether there is
// anything free in it.
func (c *cbf) add(f freed, seen, last int32) bool {
	most := c.line.Max(f.from, f.to)
	if most <= 0 {
		return false
	}
	c.open = append(c.open, stretch{from: f.from, to: f.to, most: most, seen: seen, last: last})
	s := &c.open[len(c.open)-1]
	for k := range s.fits[:classOf(most)+1] {
		s.fits[k] = math.MaxInt64
	}
	c.look(int32(len(c.open) - 1))
	return true
}

// look finds who may move into a stretch next.
func (c *cbf) look(k int32) {
	s := &c.open[k]
	if turn, id := c.queue.first(s); turn < s.last {
		s.next = id
		c.ahead.push(turn, k)
	}
}

// consider moves a job to the earliest start there is, if that is earlier than its own. The
// first of the stretches that make this possible begins at from.
func (c *cbf) consider(now job.Time, id ID, from job.Time) {
	e, was := &c.sys.jobs[id], c.plans[id].at
	if e.Limit > from.Sub(now) {
		from = now
	} else {
		from = from.Add(1 - e.Limit)
	}
	if at, ok := c.line.EarlierFit(from, was, e.Nodes, e.Limit); ok {
		c.move(id, at)
		return
	}
	for _, k := range c.both {
		if s := &c.open[k]; s.to <= was {
			s.fail(shape{e.Nodes, e.Limit})
		}
	}
}
