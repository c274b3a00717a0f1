package plan

import (
	"math"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// Requests returns the allocations to request, the earliest start first; none where the present allocations end the
// job soonest.
func (p *Plan) Requests() []job.AllocRequest {
	if p.Alloc.Nodes == 0 {
		return nil
	}
	return append([]job.AllocRequest{p.Alloc}, p.More...)
}

// request returns the request for a candidate.
func (a *adaptor) request(c *Candidate) job.AllocRequest {
	r, l := a.req, a.layout(c)
	req := job.AllocRequest{
		On: a.q.Snap.Driver, Nodes: c.Take, PerNode: c.PerNode, Time: limitDuration(c.wall), IdleTimeout: r.IdleTimeout,
		SortMemory: l.SortMemory, Scratch: r.Scratch, Rates: r.Rates, Elastic: true,
		Batch: r.Batch(c.offer.part.Name), Courteous: a.courteous(),
	}
	req.Batch.Name, req.Batch.Cluster = "berth-"+nameOf(a.q.Spec), a.q.Snap.Queue.ID
	req.Batch.Among, req.Batch.Licences = a.among, a.licences(c)
	if !math.IsInf(c.Wait, 1) {
		req.Start = a.instant(c.Wait)
	}
	if end := c.End(); req.Start != 0 && end != timeline.Never && a.req.WallTime == job.WallAuto && c.late == "" && (c.offer.moves == nil || c.Wait == 0) {
		req.Latest = end.Add(startTolerance - req.Time)
	}
	if r.IdleTimeout == 0 || r.IdleTimeout == job.DefaultIdleTimeout {
		req.IdleTimeout = batchIdle
	}
	req.IdleTimeout = min(req.IdleTimeout, a.idleLimit(c))
	return req
}

// layout returns the layout of one worker of a candidate.
func (a *adaptor) layout(c *Candidate) Layout {
	l := Layout{Nodes: 1, PerNode: c.PerNode}
	l.sortMemory(a.req)
	return l
}

// nameOf returns the part of the job's name in the queue after "berth-".
func nameOf(s *job.Spec) string {
	if s.Name != "" {
		return s.Name
	}
	return string(s.Kind)
}
