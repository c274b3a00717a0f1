package starts

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// room is a reserved time that has not begun, with the nodes that are left beside it at its beginning.
type room struct {
	Closed
	id   int32 // of the reserved time, as if it were a job
	left int   // nodes of jobs that may run at From by their limits, besides those that already may
	kept int   // of them, nodes that the first waiting job will have then by its reservation
}

// rooms returns the reserved times of a queue that have not begun; byLimit has the ends of the running jobs.
func rooms(q *Queue, byLimit []entry) (coming []room) {
	for i, x := range q.Closed {
		if x.From <= q.Now {
			continue
		}
		r := room{Closed: x, id: int32(len(q.Running) + i), left: q.Nodes}
		for _, o := range q.Closed {
			if o.From <= x.From && x.From < o.To {
				r.left -= int(o.Nodes)
			}
		}
		coming = append(coming, r)
	}
	slices.SortStableFunc(coming, func(a, b room) int { return cmp.Compare(a.From, b.From) })
	for _, e := range byLimit {
		occupy(coming, int(e.nodes), e.at)
	}
	return coming
}

// leaves reports whether a job of so many nodes that may run until limit leaves all nodes free that will be reserved, and
// to the first waiting job what it has beside them.
func leaves(coming []room, nodes int, limit job.Time) bool {
	for i := range coming {
		if r := &coming[i]; r.From < limit && nodes > r.left-r.kept {
			return false
		}
	}
	return true
}

// occupy counts a job of so many nodes that may run until limit.
func occupy(coming []room, nodes int, limit job.Time) {
	for i := range coming {
		if coming[i].From < limit {
			coming[i].left -= nodes
		}
	}
}

// fits reports whether the first waiting job can start.
func (c *Course) fits(i int) bool {
	nodes := int(c.line.nodes[i])
	if nodes > c.free {
		return false
	}
	for k := range c.coming {
		c.coming[k].kept = 0
	}
	return leaves(c.coming, nodes, timeline.After(c.now, c.line.limits[i]))
}

// close takes the nodes whose reserved time begins now.
func (c *Course) close() {
	for len(c.coming) > 0 && c.coming[0].From == c.now {
		r := c.coming[0]
		e := entry{r.To, r.Nodes, r.id}
		c.byLimit.add(e)
		c.byEnd.add(e)
		c.free -= int(r.Nodes)
		c.coming = c.coming[1:]
	}
}

// reserveBeside sets the reservation of the first waiting job where reserved times come: at the first instant at which
// enough nodes are free by limits, and stay free for as long as it may run.
func (c *Course) reserveBeside(need int, limit time.Duration) {
	active, until := c.activeAt(c.shadow)
	for at := c.shadow; ; {
		if more := need + active - c.free; more > c.byLimit.freed(at) {
			end, _ := c.byLimit.reach(more)
			at = min(end, until)
		} else if k := c.lacking(at, need, limit); k >= 0 {
			at = c.coming[k].From
		} else {
			c.shadow = at
			break
		}
		if at == timeline.Never {
			c.shadow = at
			break
		}
		active, until = c.activeAt(at)
	}
	c.extra = c.free + c.byLimit.freed(c.shadow) - active - need
	for i := range c.coming {
		r := &c.coming[i]
		if r.kept = 0; r.From > c.shadow && r.From < timeline.After(c.shadow, limit) {
			r.kept = need
		}
	}
}

// activeAt returns how many nodes the coming reserved times have at an instant, and when the first of these ends.
func (c *Course) activeAt(at job.Time) (nodes int, until job.Time) {
	until = timeline.Never
	for _, r := range c.coming {
		if r.From <= at && at < r.To {
			nodes, until = nodes+int(r.Nodes), min(until, r.To)
		}
	}
	return nodes, until
}

// lacking returns the first reserved time that begins while a job runs from an instant on, and leaves it too few nodes; −1
// if there is none.
func (c *Course) lacking(at job.Time, need int, limit time.Duration) int {
	return slices.IndexFunc(c.coming, func(r room) bool {
		return r.From > at && r.From < timeline.After(at, limit) && r.left < need
	})
}
