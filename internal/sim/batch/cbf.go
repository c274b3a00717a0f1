package batch

import (
	"fmt"
	"math"

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
	queue row
	due   agenda // which of the queue start when
	turn  int32  // of the last that arrived
	sweep sweep
}

// short is how long a queue is at most in which it is not worth while to tell openings apart,
// as measured.
const short = 300

func newCBF(s *System) *cbf {
	return &cbf{sys: s, line: timeline.New(math.MinInt64, s.nodes), sweep: sweep{short: short}}
}

func (c *cbf) submit(now job.Time, id ID) {
	c.line.Advance(now)
	e := &c.sys.jobs[id]
	at := c.place(now, e)
	c.sweep.holes.admit(e.Nodes, e.Limit)
	c.queue.push(wait{at: at, d: e.Limit, nodes: int32(e.Nodes), id: id})
	c.turn++
	c.due.push(due{at, c.turn, id})
}

// place reserves the earliest place for a job and returns it, timeline.Never for none.
func (c *cbf) place(now job.Time, e *Entry) job.Time {
	at, ok := c.line.EarliestFit(now, e.Nodes, e.Limit)
	if !ok {
		return timeline.Never
	}
	c.line.Add(at, after(at, e.Limit), -e.Nodes)
	return at
}

func (c *cbf) cancel(now job.Time, id ID) {
	w := c.queue.take(id)
	c.due.remove(id)
	c.line.Advance(now)
	if w.at != timeline.Never {
		c.free(w.at, after(w.at, w.d), int(w.nodes))
	}
	c.sweepQueue(now)
}

func (c *cbf) end(now job.Time, id ID) {
	e := &c.sys.jobs[id]
	c.line.Advance(now)
	c.free(now, after(e.Start, e.Limit), e.Nodes)
	c.sweepQueue(now)
}

// free makes nodes free.
func (c *cbf) free(from, to job.Time, nodes int) {
	if from < to {
		c.line.Add(from, to, nodes)
		c.sweep.freed = append(c.sweep.freed, freed{from, to})
	}
}

func (c *cbf) start(now job.Time, ids []ID) []ID {
	for len(c.due.heap) > 0 && c.due.heap[0].at <= now {
		d := c.due.heap[0]
		if d.at < now {
			panic(fmt.Sprintf("batch: job %d was to start at %d and it is %d", d.id, d.at, now))
		}
		c.due.remove(d.id)
		c.queue.take(d.id)
		ids = append(ids, d.id)
	}
	return ids
}

func (c *cbf) next() job.Time { return c.due.next() }

func (c *cbf) timeline(now job.Time) *timeline.Timeline {
	c.line.Advance(now)
	return c.line
}

func (c *cbf) planned(id ID) job.Time { return c.queue.of(id).at }

func (c *cbf) resize(now job.Time, more int) {
	c.line.Advance(now)
	if more > 0 {
		c.free(now, timeline.Never, more)
	} else {
		c.shrink(now)
	}
	c.sweepQueue(now)
}

// shrink makes reservations that cannot be kept anew: first each that can be is kept, then
// the others get the earliest places, all in the order of arrival.
func (c *cbf) shrink(now job.Time) {
	c.line = c.sys.held(now)
	var anew []ID
	for id := range c.sys.queue.all(c.sys.links) {
		w := c.queue.of(id)
		switch end := after(w.at, w.d); {
		case w.at == timeline.Never:
		case c.line.Min(w.at, end) >= int(w.nodes):
			c.line.Add(w.at, end, -int(w.nodes))
		default:
			anew = append(anew, id)
		}
	}
	for _, id := range anew {
		w := c.queue.of(id)
		w.at = c.place(now, &c.sys.jobs[id])
		c.due.move(id, w.at)
	}
	c.sweep.freed = append(c.sweep.freed[:0], freed{now, timeline.Never})
}
