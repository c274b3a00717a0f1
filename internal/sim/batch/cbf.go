package batch

import (
	"berth/internal/cluster"
	"berth/internal/job"
)

// cbf is conservative backfilling with compression.
type cbf struct {
	s    *System
	line *cluster.Timeline
	plan []job.Time
}

func newCBF(s *System) scheduler { return &cbf{s: s, line: cluster.NewTimeline(0, s.nodes)} }

func (c *cbf) submit(now job.Time, id ID) {
	for int(id) >= len(c.plan) {
		c.plan = append(c.plan, cluster.Never)
	}
	c.line.Advance(now)
	e := &c.s.jobs[id]
	at, ok := c.line.EarliestFit(now, e.Nodes, e.Limit)
	if !ok {
		at = cluster.Never
	} else {
		c.line.Add(at, at.Add(e.Limit), -e.Nodes)
	}
	c.plan[id] = at
}

func (c *cbf) cancel(now job.Time, id ID) {
	c.line.Advance(now)
	if at := c.plan[id]; at != cluster.Never {
		c.line.Add(at, at.Add(c.s.jobs[id].Limit), c.s.jobs[id].Nodes)
	}
	c.sweep(now)
}

func (c *cbf) end(now job.Time, id ID) {
	c.line.Advance(now)
	e := &c.s.jobs[id]
	c.line.Add(now, e.Start.Add(e.Limit), e.Nodes)
	c.sweep(now)
}

func (c *cbf) sweep(now job.Time) {
	for id := range c.s.queue.all(c.s.links) {
		e := &c.s.jobs[id]
		if at := c.plan[id]; at != cluster.Never {
			c.line.Add(at, at.Add(e.Limit), e.Nodes)
		}
		at, ok := c.line.EarliestFit(now, e.Nodes, e.Limit)
		c.plan[id] = cluster.Never
		if ok {
			c.plan[id] = at
			c.line.Add(at, at.Add(e.Limit), -e.Nodes)
		}
	}
}

func (c *cbf) resize(now job.Time, more int) {
	c.line = c.s.held(now)
	for id := range c.s.queue.all(c.s.links) {
		c.plan[id] = cluster.Never
	}
	c.sweep(now)
}

func (c *cbf) start(now job.Time, ids []ID) []ID {
	for id := range c.s.queue.all(c.s.links) {
		if c.plan[id] == now {
			ids = append(ids, id)
		}
	}
	return ids
}

func (c *cbf) next() job.Time {
	t := cluster.Never
	for id := range c.s.queue.all(c.s.links) {
		t = min(t, c.plan[id])
	}
	return t
}

func (c *cbf) timeline(now job.Time) *cluster.Timeline {
	c.line.Advance(now)
	return c.line
}

func (c *cbf) planned(id ID) job.Time { return c.plan[id] }
