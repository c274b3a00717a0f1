package starts

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// release drops the reservations of waiting jobs, which are made anew.
func (c *Course) release() {
	c.kept = c.kept[:0]
	for i := range c.coming {
		c.coming[i].kept = 0
	}
	c.bindBounds()
}

// reserve reserves nodes for the job at a place of the line: at the first instant at which enough are free by limits, and stay
// free beside what is reserved for as long as it may run.
func (c *Course) reserve(i int) {
	need, limit := int(c.line.nodes[i]), c.line.limits[i]
	at, left := c.fit(need, limit)
	r := room{Closed: Closed{From: at, To: timeline.After(at, limit), Nodes: int32(need)}, left: left - need}
	for _, all := range [...][]room{c.coming, c.kept} {
		for k := range all {
			if o := &all[k]; r.From <= o.From && o.From < r.To {
				o.kept += need
			}
		}
	}
	k, _ := slices.BinarySearchFunc(c.kept, at, func(o room, at job.Time) int { return cmp.Compare(o.From, at) })
	c.kept = slices.Insert(c.kept, k, r)
	c.bindBounds()
}

// fit returns the first instant at which so many nodes are free for so long, and how many are.
func (c *Course) fit(need int, limit time.Duration) (at job.Time, left int) {
	freed := 0 // nodes, by the instant
	for at = c.now; at < timeline.Never; {
		active, until := c.activeAt(at)
		if left = c.free + freed - active; left < need {
			if at, freed = c.byLimit.reachedAt(need + active - c.free); at > until {
				at, freed = until, c.byLimit.freedBy(until)
			}
			continue
		}
		from := c.lacking(at, need, limit)
		if from == at {
			break
		}
		at, freed = from, c.byLimit.freedBy(from)
	}
	return at, left
}

// activeAt returns how many nodes are reserved at an instant that has not begun, and when the first of these reservations ends.
func (c *Course) activeAt(at job.Time) (nodes int, until job.Time) {
	until = timeline.Never
	for _, all := range [...][]room{c.coming, c.kept} {
		for k := range all {
			if r := &all[k]; r.From <= at && at < r.To {
				nodes, until = nodes+int(r.Nodes), min(until, r.To)
			}
		}
	}
	return nodes, until
}

// lacking returns the beginning of the last reservation that begins while a job runs from an instant on, and leaves it too
// few nodes; the same instant if there is none.
func (c *Course) lacking(at job.Time, need int, limit time.Duration) job.Time {
	end, last := timeline.After(at, limit), at
	for _, all := range [...][]room{c.coming, c.kept} {
		for k := range all {
			if r := &all[k]; r.From > at && r.From < end && r.left-r.kept < need {
				last = max(last, r.From)
			}
		}
	}
	return last
}

// bound is how many nodes a job may have that may run past an instant.
type bound struct {
	from job.Time
	left int
}

// keepsBounds reports whether a job of so many nodes that may run until an instant keeps to all bounds.
func keepsBounds(bounds []bound, nodes int, until job.Time) bool {
	for k := len(bounds) - 1; k >= 0 && nodes > bounds[k].left; k-- { // the last is the strictest
		if bounds[k].from < until {
			return false
		}
	}
	return true
}

// bindBounds sets the bounds on a further job, the earliest first, by all that is reserved. Those that follow from the number of free nodes
// or from an earlier one are left out.
func (c *Course) bindBounds() {
	c.bounds = c.bounds[:0]
	least, i, k := c.free, 0, 0
	for i < len(c.coming) || k < len(c.kept) {
		var r *room
		if k == len(c.kept) || i < len(c.coming) && c.coming[i].From < c.kept[k].From {
			r = &c.coming[i]
			i++
		} else {
			r = &c.kept[k]
			k++
		}
		if left := r.left - r.kept; left < least && r.From < timeline.Never {
			least = left
			c.bounds = append(c.bounds, bound{r.From, left})
		}
	}
}
