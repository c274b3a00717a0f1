package starts

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

const (
	// grace is how long a job is assumed to go on past its limit.
	grace = 30 * time.Second
	// patience is how long a course goes on although none of the jobs before the arrivals starts. Others come for ever, and without
	// a reservation, or behind a job without an end, one of these may never start.
	patience = 14 * day
)

// opening is an instant at which nodes were left for a request behind all jobs that wait now.
type opening struct {
	at       job.Time
	free     int32 // nodes
	from, to int32 // place of its bounds in the memory of the course
}

// Course is one simulation of a queue under backfilling: whenever a job ends the batch system goes through those that
// wait. One that fits starts. Each of the first ones that do not (Queue.Depth) has a reservation for when enough jobs will
// have reached their limits, and no job starts that would delay one of these by its limit. With one reservation that is EASY
// backfilling (D. Lifka, The ANL/IBM SP Scheduling System, 1995), with one for each job conservative backfilling. Jobs end
// when the Future says.
//
// It ends when no job waits any more that waits at its beginning.
type Course struct {
	future Future
	began  job.Time
	nodes  int
	state
	ends     []entry // of the running jobs, at the beginning
	openings []opening
	most     []int   // by block of openings: the most nodes of one
	memory   []bound // of the openings
	fork     *Course // in which it is continued; its memory is used again, by all draws of a queue
}

// state is the state of a Course at an instant.
type state struct {
	now     job.Time
	free    int
	byLimit agenda   // ends of the running jobs as the batch system expects them
	byEnd   agenda   // ends of the running jobs as they will be
	active  []runs   // by id: running jobs, jobs that wait at the beginning, the request, arrivals
	line    line     // the same without running ones
	coming  []room   // reserved times that have not begun, in the order of their beginning
	kept    []room   // reservations of waiting jobs, likewise
	bounds  []bound  // on a further job, by both
	first   int      // no job before it in the line waits
	before  int      // the jobs before this place of the line go before arrivals
	arrived int      // number of arrivals
	moved   job.Time // when a job before the arrivals started last, or came
	depth   int      // number of waiting jobs that have reservations
}

// runs is what is known of the run of a job.
type runs struct {
	run   time.Duration
	limit job.Time // when it reaches its limit
	start job.Time // of one that waited
}

// Follow simulates a queue. Waiting jobs that are larger than the cluster are left out.
func Follow(q *Queue, f Future) *Course { return follow(q, f, q.ends(nil), q.ends(f), nil) }

// follow does so with the ends of the running jobs by limits and as they will be, each in the order of time. It changes neither.
func follow(q *Queue, f Future, limits, ends []entry, like *Course) *Course {
	c := &Course{future: f, began: q.Now, nodes: q.Nodes, ends: ends, state: state{now: q.Now, moved: q.Now, free: q.Nodes, depth: q.depth()}}
	n, closed := len(q.Running), len(q.Closed)
	c.provide(like)
	c.active = append(c.active, make([]runs, n+closed)...)
	for _, e := range limits {
		c.active[e.id].limit = e.at
		c.free -= int(e.nodes)
	}
	for i, x := range q.Closed {
		c.active[n+i].limit = x.To
	}
	c.coming = reservedAhead(q, limits)
	c.byLimit, c.byEnd = newAgenda(limits), newAgenda(ends)
	for i, w := range q.Waiting {
		if int(w.Nodes) > q.Nodes {
			w.Nodes = gone
		}
		c.push(w, f.Waiting(i))
	}
	c.push(Job{Nodes: gone}, 0) // the place of the request
	c.before = len(q.Waiting)
	for c.serve(); c.waits() && c.step(); {
	}
	return c
}

// provide takes as much memory as another course needed and a little more; nil: none yet.
func (c *Course) provide(like *Course) {
	if like == nil {
		return
	}
	more := func(n int) int { return n + n/8 }
	c.openings, c.memory = make([]opening, 0, more(len(like.openings))), make([]bound, 0, more(len(like.memory)))
	c.active = make([]runs, 0, more(len(like.active)))
	c.line.nodes, c.line.limits = make([]int32, 0, more(len(like.line.nodes))), make([]time.Duration, 0, more(len(like.line.nodes)))
}

// Start returns when a request would start that goes behind all jobs that wait now; Never if it does not. Of one that patience ends for
// it is a lower bound.
func (c *Course) Start(nodes int, limit time.Duration) job.Time {
	if nodes > c.nodes {
		return timeline.Never
	}
	if at, ok := c.firstOpening(nodes, limit); ok {
		return at
	}
	if c.waits() {
		return c.late()
	}
	if c.fork == nil {
		c.fork = &Course{}
	}
	f := c.fork
	f.become(c)
	f.moved = f.now
	f.line.set(f.before, int32(nodes), limit)
	if f.before++; f.depth > 0 {
		f.reserve(f.before - 1)
	}
	for f.waits() {
		if !f.step() {
			return f.late()
		}
	}
	return f.now
}

// late returns when the jobs before the arrivals start at the earliest of a course that does not go on: Never if nothing happens any more.
func (c *Course) late() job.Time {
	if _, _, _, more := c.future.Arrival(c.arrived); more {
		return c.moved.Add(patience)
	}
	return timeline.Never
}

// started returns when a job that waits starts, the first being 0; Never if it does not.
func (c *Course) started(i int) job.Time { return c.active[len(c.active)-len(c.line.nodes)+i].start }

// become makes a course a copy of another one, without its openings.
func (c *Course) become(of *Course) {
	mine := c.state
	c.future, c.nodes, c.state = of.future, of.nodes, of.state
	c.openings, c.most, c.memory = c.openings[:0], c.most[:0], c.memory[:0]
	c.byLimit, c.byEnd = mine.byLimit.copied(&of.byLimit), mine.byEnd.copied(&of.byEnd)
	c.active, c.coming = append(mine.active[:0], of.active...), append(mine.coming[:0], of.coming...)
	c.kept, c.bounds = mine.kept, mine.bounds
	c.release()
	l, from := &mine.line, &of.line
	c.line = line{append(l.nodes[:0], from.nodes...), append(l.limits[:0], from.limits...), append(l.least[:0], from.least...), append(l.short[:0], from.short...), append(l.within[:0], from.within...)}
}

// firstOpening returns the first opening for a request. Without one ok is false, and the request starts later than at.
func (c *Course) firstOpening(nodes int, limit time.Duration) (at job.Time, ok bool) {
	for b, most := range c.most {
		if nodes > most {
			continue
		}
		for _, o := range c.openings[b*blockSize : min((b+1)*blockSize, len(c.openings))] {
			if nodes <= int(o.free) && keepsBounds(c.memory[o.from:o.to], nodes, timeline.After(o.at, limit)) {
				return o.at, true
			}
		}
	}
	return c.now, false
}

// open adds the opening that jobs before the arrivals leave now.
func (c *Course) open() {
	if c.free == 0 {
		return
	}
	from := len(c.memory)
	c.memory = append(c.memory, c.bounds...)
	if len(c.openings)%blockSize == 0 {
		c.most = append(c.most, 0)
	}
	last := len(c.most) - 1
	c.most[last] = max(c.most[last], c.free)
	c.openings = append(c.openings, opening{c.now, int32(c.free), int32(from), int32(len(c.memory))})
}

// waits reports whether a job waits in front of the arrivals.
func (c *Course) waits() bool { return c.line.nextWaiting(c.first, c.before) < c.before }

// push adds a job to the line.
func (c *Course) push(j Job, run time.Duration) {
	c.line.push(j.Nodes, j.Limit)
	c.active = append(c.active, runs{run: max(min(run, j.Limit), 1), start: timeline.Never})
}

// serve starts the jobs before the arrivals that can start, and adds the opening that they leave.
func (c *Course) serve() {
	c.first = c.line.nextWaiting(c.first, c.before)
	c.release()
	for i := c.first; c.free > 0; i++ {
		if i = c.line.nextWaiting(i, c.before); i >= c.before {
			break
		}
		if c.admits(i) {
			c.launch(i)
			continue
		}
		if len(c.kept) < c.depth {
			c.reserve(i)
		}
		if len(c.kept) == c.depth {
			c.backfill(i+1, c.before)
			break
		}
	}
	c.first = c.line.nextWaiting(c.first, c.before)
	c.open()
}

// backfill starts the jobs in [from, to) of the line that fit and delay no reservation.
func (c *Course) backfill(from, to int) {
	for b := from / blockSize; b*blockSize < to && c.free > 0; b++ {
		if int(c.line.least[b]) > c.free {
			continue
		}
		room, extra := c.room()
		if int(c.line.least[b]) <= extra || c.line.leastWithin(b, room) <= c.free {
			c.backfillBlock(b, from, to, room)
		}
	}
}

// backfillBlock does so for a block of the line. It notes the least nodes of a job that still waits and whose limit is within room.
func (c *Course) backfillBlock(b, from, to int, room time.Duration) {
	if to == from+1 { // a job that has just come
		if c.admits(from) {
			c.launch(from)
		}
		return
	}
	least := int32(gone)
	for i := b * blockSize; i < min((b+1)*blockSize, len(c.line.nodes)); i++ {
		if i >= from && i < to && c.admits(i) {
			c.launch(i)
		} else if c.line.limits[i] <= room {
			least = min(least, c.line.nodes[i])
		}
	}
	c.line.within[b] = within{room, least}
}

// admits reports whether the job at a place of the line fits and delays no reservation.
func (c *Course) admits(i int) bool {
	n := int(c.line.nodes[i])
	return n <= c.free && keepsBounds(c.bounds, n, timeline.After(c.now, c.line.limits[i]))
}

// room returns how long a job may run that needs more nodes than extra, by the last of the bounds.
func (c *Course) room() (d time.Duration, extra int) {
	if len(c.bounds) == 0 {
		return timeline.Unbounded, c.free
	}
	last := c.bounds[len(c.bounds)-1]
	return last.from.Sub(c.now), last.left
}

// launch starts the job at a place of the line.
func (c *Course) launch(i int) {
	nodes, limit := c.line.nodes[i], timeline.After(c.now, c.line.limits[i])
	if i < c.before {
		c.moved = c.now
	}
	id := len(c.active) - len(c.line.nodes) + i
	c.active[id].limit, c.active[id].start = limit, c.now
	c.byLimit.add(entry{limit, nodes, int32(id)})
	c.byEnd.add(entry{timeline.After(c.now, c.active[id].run), nodes, int32(id)})
	c.free -= int(nodes)
	occupy(c.coming, int(nodes), limit)
	occupy(c.kept, int(nodes), limit)
	c.bindBounds()
	c.line.set(i, gone, 0)
}

// step goes to the next end of a job and serves those that wait. Jobs that arrive until then start if they can. It
// returns false if no job ends any more, or if patience ends.
func (c *Course) step() bool {
	c.backfill(c.before, len(c.line.nodes)) // arrivals, which go after the request
	end := c.arrivals()
	if end == timeline.Never {
		return false
	}
	c.now = end
	c.takeReserved()
	for e := c.byEnd.first(); e.at == c.now; e = c.byEnd.first() {
		c.byEnd.pop()
		limit := c.active[e.id].limit
		c.byLimit.remove(entry{limit, e.nodes, e.id})
		c.free += int(e.nodes)
		occupy(c.coming, -int(e.nodes), limit)
	}
	c.serve()
	return true
}

// arrivals lets jobs arrive up to the next end of a job, or the beginning of a reserved time, which it returns.
func (c *Course) arrivals() job.Time {
	end := c.next()
	for {
		at, j, run, ok := c.future.Arrival(c.arrived)
		if !ok || at >= end {
			return end
		}
		if at.Sub(c.moved) > patience {
			return timeline.Never
		}
		c.now = max(c.now, at)
		c.arrived++
		if int(j.Nodes) <= c.nodes {
			c.push(j, run)
			c.backfill(len(c.line.nodes)-1, len(c.line.nodes))
			end = c.next()
		}
	}
}

// next returns when the next job ends, or the next reserved time begins.
func (c *Course) next() job.Time {
	end := c.byEnd.first().at
	if len(c.coming) > 0 {
		end = min(end, c.coming[0].From)
	}
	return end
}
