package batch

import (
	"fmt"
	"math"

	"berth/internal/cluster"
	"berth/internal/job"
)

// cbf is conservative backfilling with compression, as the simulator pyss understands it.
// An arriving job gets the earliest place that delays nobody. Whenever a job has ended (or is
// cancelled, or nodes have come) there is a sweep: the queue is gone through in the order of
// arrival, and each reservation moves to the earliest start that there is then, which is
// never later. What a job frees as it moves can be had by those before it at the next sweep,
// which the end of a job that used all its time brings as well.
//
// A sweep looks only at jobs that can move, see stretch; an event then takes time logarithmic
// in the length of the queue for itself and for each reservation that moves.
type cbf struct {
	sys   *System
	line  *cluster.Timeline // what is free under all reservations
	plans []plan            // by ID; of jobs that wait
	queue agenda            // which of them start when
	turn  int32             // of the last that arrived

	freed []freed // what is free since jobs looked last

	// Of the sweep:
	open  []stretch
	ahead heap[int32] // by turn, who may move into which stretch
	both  []int32     // stretches into which the same job may move
}

// plan is a waiting job's reservation, and its place in the order of arrival.
type plan struct {
	at   job.Time // cluster.Never: none
	turn int32
}

// freed is time in which nodes became free, and whose turns are up to have a look at it: of
// those before one.
type freed struct {
	from, to job.Time
	before   int32
}

// everybody is a turn that comes after all.
const everybody int32 = math.MaxInt32

func newCBF(s *System) *cbf {
	return &cbf{sys: s, line: cluster.NewTimeline(math.MinInt64, s.nodes), queue: newAgenda()}
}

func (c *cbf) submit(now job.Time, id ID) {
	c.line.Advance(now)
	for int(id) >= len(c.plans) {
		c.plans = append(c.plans, plan{})
	}
	c.turn++
	c.plans[id].turn = c.turn
	c.place(now, id)
}

// place reserves the earliest place for a job, if there is one.
func (c *cbf) place(now job.Time, id ID) {
	e, p := &c.sys.jobs[id], &c.plans[id]
	p.at = cluster.Never
	if at, ok := c.line.EarliestFit(now, e.Nodes, e.Limit); ok {
		p.at = at
		c.line.Add(at, after(at, e.Limit), -e.Nodes)
	}
	c.queue.insert(c.entry(id))
}

// entry returns a job as the agenda has it.
func (c *cbf) entry(id ID) planned {
	e, p := &c.sys.jobs[id], &c.plans[id]
	return planned{at: p.at, d: e.Limit, turn: p.turn, nodes: int32(e.Nodes), id: id}
}

func (c *cbf) cancel(now job.Time, id ID) {
	e, p := &c.sys.jobs[id], &c.plans[id]
	c.queue.remove(p.at, p.turn)
	if p.at != cluster.Never {
		c.free(now, p.at, after(p.at, e.Limit), e.Nodes)
	}
	c.sweep(now)
}

func (c *cbf) end(now job.Time, id ID) {
	e := &c.sys.jobs[id]
	c.free(now, now, after(e.Start, e.Limit), e.Nodes)
	c.sweep(now)
}

// free makes nodes free that everybody may want.
func (c *cbf) free(now, from, to job.Time, nodes int) {
	c.line.Advance(now)
	if from < to {
		c.line.Add(from, to, nodes)
		c.freed = append(c.freed, freed{from, to, everybody})
	}
}

func (c *cbf) start(now job.Time, ids []ID) []ID {
	for c.queue.next() <= now && c.queue.next() != cluster.Never {
		p := c.queue.pop()
		if p.at < now {
			panic(fmt.Sprintf("batch: job %d was to start at %d and it is %d", p.id, p.at, now))
		}
		ids = append(ids, p.id)
	}
	return ids
}

func (c *cbf) next() job.Time { return c.queue.next() }

func (c *cbf) timeline(now job.Time) *cluster.Timeline {
	c.line.Advance(now)
	return c.line
}

func (c *cbf) planned(id ID) job.Time { return c.plans[id].at }

// resize makes reservations that cannot be kept anew, as everything else, in the order of
// arrival: first each that can be is kept, then the others get the earliest places.
func (c *cbf) resize(now job.Time, more int) {
	if more > 0 {
		c.free(now, now, cluster.Never, more)
		c.sweep(now)
		return
	}
	c.line = c.sys.held(now)
	var anew []ID
	for id := range c.sys.queue.all(c.sys.links) {
		e, p := &c.sys.jobs[id], &c.plans[id]
		switch end := after(p.at, e.Limit); {
		case p.at == cluster.Never:
		case c.line.Min(p.at, end) >= e.Nodes:
			c.line.Add(p.at, end, -e.Nodes)
		default:
			c.queue.remove(p.at, p.turn)
			anew = append(anew, id)
		}
	}
	for _, id := range anew {
		c.place(now, id)
	}
	c.freed = append(c.freed[:0], freed{now, cluster.Never, everybody})
	c.sweep(now)
}

// move has a job begin earlier than it was to.
func (c *cbf) move(id ID, at job.Time) {
	e, p := &c.sys.jobs[id], &c.plans[id]
	was, end := p.at, after(at, e.Limit)
	c.queue.remove(was, p.turn)
	p.at = at
	c.queue.insert(c.entry(id))
	c.line.Add(at, min(end, was), -e.Nodes)
	if f := (freed{max(was, end), after(was, e.Limit), p.turn}); was != cluster.Never && f.from < f.to {
		c.line.Add(f.from, f.to, e.Nodes)
		if c.add(f, p.turn, everybody) {
			c.freed = append(c.freed, f)
		}
	}
}
