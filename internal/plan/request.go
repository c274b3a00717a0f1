package plan

import (
	"math"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// Requests returns what is to be asked for, the earliest start first; none where the
// allocations that the job has do it soonest.
func (p *Plan) Requests() []job.AllocRequest {
	if p.Alloc.Nodes == 0 {
		return nil
	}
	return append([]job.AllocRequest{p.Alloc}, p.More...)
}

// request returns the request for an option.
func (a *adaptor) request(o *option) job.AllocRequest {
	r, l := a.req, a.layout(o)
	req := job.AllocRequest{
		On: a.q.Snap.Driver, Nodes: o.nodes, PerNode: o.place.perNode, IdleTimeout: r.IdleTimeout,
		SortMemory: l.SortMemory, Scratch: r.Scratch, Elastic: true,
		Batch: r.Batch(o.place.part.Name),
	}
	req.Batch.Name, req.Batch.Cluster = "berth-"+nameOf(a.q.Spec), a.q.Snap.Queue.ID
	req.Batch.Among = a.among
	if o.time != timeline.Unbounded {
		req.Time = o.time
	}
	if !math.IsInf(o.start, 1) {
		req.Start = a.instant(o.start)
	}
	if end := o.slot.End(); req.Start != 0 && end != timeline.Never && a.req.WallTime == job.WallAuto && o.late == "" {
		req.Latest = end.Add(missBy - req.Time)
	}
	if r.IdleTimeout == 0 || r.IdleTimeout == job.DefaultIdleTimeout {
		req.IdleTimeout = batchIdle
	}
	return req
}

// layout returns what each worker of an option has.
func (a *adaptor) layout(o *option) Layout {
	l := Layout{Nodes: 1, PerNode: o.place.perNode}
	l.sortMemory(a.req)
	return l
}

// nameOf returns what the queue may call a job.
func nameOf(s *job.Spec) string {
	if s.Name != "" {
		return s.Name
	}
	return string(s.Kind)
}

// asDuration returns seconds as a duration, as far as one is needed.
func asDuration(seconds float64) time.Duration {
	return time.Duration(math.Ceil(min(seconds, 2*never) * float64(time.Second)))
}
