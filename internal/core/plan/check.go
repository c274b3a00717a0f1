package plan

import (
	"fmt"
	"math"
	"time"

	"berth/internal/core/job"
)

// Doubt reports whether the batch system would start the plan's first request so much later than predicted that the
// next best candidate should be tried: by more than a minute and by more than a quarter of the predicted turnaround.
// A start of 0 is unknown. It believes limits, so a start that the history predicts is not in doubt.
func (p *Plan) Doubt(start job.Time) bool {
	if start == 0 || p.Alloc.Nodes == 0 || p.Start != nil {
		return false
	}
	allowed := time.Minute
	if p.Outlook != nil {
		allowed = max(allowed, job.Seconds(p.Outlook.Turnaround/4))
	}
	predicted := p.Alloc.Start
	if predicted == 0 {
		predicted = p.At
	}
	return start.Sub(predicted) > allowed
}

// askBatchSystem applies the batch system's own answers to a candidate: a later start, or a refusal.
func (a *adaptor) askBatchSystem(c *Candidate) {
	for i := range a.q.Checks {
		answer := &a.q.Checks[i]
		if !answer.covers(c) {
			continue
		}
		if answer.Refused != "" {
			c.rejected = "refused: " + answer.Refused
			return
		}
		if start := a.seconds(answer.Start); start > c.Wait && c.offer.moves == nil { // the answer believes limits
			c.late = fmt.Sprintf("%s would start it %s later than the queue shows", a.q.Snap.Driver, duration(start-c.Wait))
			c.Wait = start
		}
	}
}

// covers reports whether an answer holds for a candidate: for every one that is not much smaller than the checked
// request. A larger request cannot start earlier, and a slightly smaller one is not worth a second try. A refusal that
// does not concern the wall time concerns the nodes. An unlimited wall time counts as more
// than half of any.
func (c *Check) covers(x *Candidate) bool {
	if c.Partition != "" && c.Partition != x.offer.part.Name {
		return false
	}
	size, long := 2*x.Take > c.Nodes && 2*x.PerNode.CPUs > c.PerNode.CPUs, math.IsInf(x.wall, 1) || 2*x.wall > limitSeconds(c.Time)
	switch {
	case c.Refused == "":
		return size && long
	case c.ForTime:
		return long
	default:
		return size
	}
}

// variants returns the candidate with the wall times and numbers of nodes that are evaluated for its slot: all its
// nodes and, for each answer of the batch system, half the checked nodes, half the checked time, and both. why is the
// reason why the slot is infeasible, or empty.
func (a *adaptor) variants(c Candidate) (out []Candidate, why string) {
	if c.wall, why = a.wallTime(&c); why != "" {
		return nil, why
	}
	out = []Candidate{c}
	for i := range a.q.Checks {
		answer := &a.q.Checks[i]
		few := c
		few.Take = c.offer.filled(max(min(answer.Nodes/2, c.Take), c.offer.minNodes))
		var why string
		if few.wall, why = a.wallTime(&few); why != "" {
			continue
		}
		out = append(out, few)
		half := (answer.Time / 2).Truncate(a.grain).Seconds()
		if a.req.WallTime == job.WallAuto && half >= a.leastUsefulWall(c.offer) {
			brief := c
			brief.wall, few.wall = min(c.wall, half), min(few.wall, half)
			out = append(out, brief, few)
		}
	}
	return out, ""
}
