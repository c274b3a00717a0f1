package starts

import (
	"cmp"
	"slices"

	"berth/internal/core/job"
)

// room is a time that has not begun for which nodes are reserved, with the nodes that are left beside it at its beginning.
type room struct {
	Closed
	id   int32 // of a reserved time, as if it were a job
	left int   // nodes of jobs that may run at From by their limits, besides those that already may
	kept int   // of them, nodes that waiting jobs will have then by their reservations
}

// reservedAhead returns the reserved times of a queue that have not begun; limits has the ends of the running jobs.
func reservedAhead(q *Queue, limits []entry) (coming []room) {
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
	for _, e := range limits {
		if int(e.id) < len(q.Running) {
			occupy(coming, int(e.nodes), e.at)
		}
	}
	return coming
}

// occupy counts a job of so many nodes that may run until limit.
func occupy(coming []room, nodes int, limit job.Time) {
	for i := range coming {
		if coming[i].From < limit {
			coming[i].left -= nodes
		}
	}
}

// takeReserved takes the nodes whose reserved time begins now.
func (c *Course) takeReserved() {
	for len(c.coming) > 0 && c.coming[0].From == c.now {
		r := c.coming[0]
		e := entry{r.To, r.Nodes, r.id}
		c.byLimit.add(e)
		c.byEnd.add(e)
		c.free -= int(r.Nodes)
		c.coming = c.coming[1:]
	}
}
