package plan

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
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
// whether it can be had at all.
func (a *adaptor) check(o *option) {
	for i := range a.q.Checks {
		c := &a.q.Checks[i]
		if !c.covers(o.nodes, o.place.perNode, o.time) {
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

// covers reports whether a check speaks for a request: for every one that is not much
// smaller. What asks for more cannot start earlier, and what asks for nearly as much had
// better not be tried in its stead. A refusal is taken to be for the time where it says
// so, and else for the nodes.
func (c *Check) covers(nodes int, perNode job.Resources, t time.Duration) bool {
	size, long := 2*nodes > c.Nodes && 2*perNode.CPUs > c.PerNode.CPUs, moreThanHalf(t, c.Time)
	switch {
	case c.Refused == "":
		return size && long
	case c.forTime():
		return long
	default:
		return size
	}
}

// forTime reports whether a refusal speaks of the wall time, as Slurm's "Requested time
// limit is invalid" and "QOSMaxWallDurationPerJobLimit" do.
func (c *Check) forTime() bool {
	s := strings.ToLower(c.Refused)
	return strings.Contains(s, "time") || strings.Contains(s, "wall")
}

func moreThanHalf(t, of time.Duration) bool {
	switch {
	case t == timeline.Unbounded:
		return true
	case of == 0:
		return false // half of an unlimited time is one
	}
	return 2*t > of
}

// variants returns the requests that are weighed for a slot: the most nodes that are of
// use and, where a check speaks for that, half the nodes that were checked, half the
// time, and both.
func (a *adaptor) variants(p *place, slot timeline.Slot, nodes int) (out []request, why string) {
	t, why := a.wall(p, slot, nodes)
	if why != "" {
		return nil, why
	}
	out = []request{{nodes, t}}
	for i := range a.q.Checks {
		c := &a.q.Checks[i]
		few := max(min(c.Nodes/2, nodes), p.minNodes)
		long, why := a.wall(p, slot, few)
		if why != "" {
			continue
		}
		out = append(out, request{few, long})
		half := (c.Time / 2).Truncate(a.grain)
		if a.req.WallTime == job.WallAuto && half.Seconds() >= a.least(p) {
			out = append(out, request{nodes, min(t, half)}, request{few, min(long, half)})
		}
	}
	return out, ""
}

// request is the size and wall time of an allocation.
type request struct {
	nodes int
	time  time.Duration
}
