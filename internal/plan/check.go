package plan

import (
	"fmt"
	"time"

	"berth/internal/cluster"
	"berth/internal/job"
)

// Doubt reports whether the batch system would start the plan's first request so much
// later than predicted that the next best is to be tried: by more than a minute, and by
// more than a quarter of the predicted turnaround. A start of 0 is unknown.
func (p *Plan) Doubt(start job.Time) bool {
	if start == 0 || p.Alloc.Nodes == 0 {
		return false
	}
	allowed := time.Minute
	if p.Outlook != nil {
		allowed = max(allowed, time.Duration(p.Outlook.Turnaround/4*float64(time.Second)))
	}
	predicted := p.Alloc.Start
	if predicted == 0 {
		predicted = p.At
	}
	return start.Sub(predicted) > allowed
}

// check lets what the batch system itself said override when an option starts, or
// whether it can be had at all. It speaks for every request that is not much smaller:
// what asks for more cannot start earlier, and what asks for nearly as much had better
// not be tried in its stead.
func (a *adaptor) check(o *option) {
	for _, c := range a.q.Checks {
		if !covers(c, o.nodes, o.place.perNode, o.time) {
			continue
		}
		if c.Refused != "" {
			o.out = "refused: " + c.Refused
			return
		}
		if start := a.seconds(c.Start); start > o.start {
			o.start = start
			o.late = fmt.Sprintf("%s would start it %s later than the queue shows", a.q.Snap.Driver, duration(start-a.seconds(o.slot.Start)))
		}
	}
}

// covers reports whether a check speaks for a request: it asks for more than half of the
// checked nodes, cores and time.
func covers(c Check, nodes int, perNode job.Resources, t time.Duration) bool {
	return 2*nodes > c.Nodes && 2*perNode.CPUs > c.PerNode.CPUs && moreThanHalf(t, c.Time)
}

func moreThanHalf(t, of time.Duration) bool {
	switch {
	case t == cluster.Unbounded:
		return true
	case of == 0:
		return false // half of an unlimited time is one
	}
	return 2*t > of
}

// variants returns the requests that are weighed for a slot: the most nodes that are of
// use and, where a check speaks for that, one with half the nodes and one with half the
// time that were checked.
func (a *adaptor) variants(p *place, slot cluster.Slot, nodes int) (out []request, why string) {
	t, why := a.wall(p, slot, nodes)
	if why != "" {
		return nil, why
	}
	out = []request{{nodes, t}}
	for _, c := range a.q.Checks {
		if !covers(c, nodes, p.perNode, t) {
			continue
		}
		if n := c.Nodes / 2; n >= p.minNodes && n < nodes {
			if t, why := a.wall(p, slot, n); why == "" {
				out = append(out, request{n, t})
			}
		}
		half := (c.Time / 2).Truncate(a.grain)
		if a.req.WallTime == job.WallAuto && half < t && half.Seconds() >= a.least(p) {
			out = append(out, request{nodes, half})
		}
	}
	return out, ""
}

// request is the size and wall time of an allocation.
type request struct {
	nodes int
	time  time.Duration
}
