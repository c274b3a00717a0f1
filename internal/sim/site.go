package sim

import (
	"context"
	"slices"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/job"
	"berth/internal/step"
	"berth/internal/timeline"
)

// siteName is what the simulated cluster is called as a driver.
const siteName = "sim"

// site is the simulated cluster as a coordinator's driver. It keeps the contract of the
// conformance suite (test/support/drivertest), which cannot be run on it: the suite's workers are
// processes that dial in over TLS and are killed by signals, in real time. The scenarios in
// testdata hold it to the same points in virtual time.
type site struct {
	w      *world
	report driver.Reporter
	dial   func(*worker)     // how workers get to the coordinator
	fast   func(*grant) bool // lets a job run by list scheduling, where it can (see coordinator.fast)
	allocs map[job.AllocID]*grant
	closed bool
}

var _ driver.Driver = (*site)(nil)

// grant is an allocation and its workers.
type grant struct {
	site    *site
	id      job.AllocID
	alloc   *allocation
	workers []*worker // by rank; nil: it is not up
	broken  []bool    // by rank: its node failed, and is no more a part of it
}

func newSite(w *world, report driver.Reporter, dial func(*worker)) *site {
	return &site{w: w, report: report, dial: dial, allocs: make(map[job.AllocID]*grant)}
}

// Snapshot returns nodes and queue. It is good until time goes on.
func (s *site) Snapshot(context.Context, string) (cluster.Snapshot, error) {
	return s.w.snapshot(), nil
}

// Request puts an allocation into the queue. It is refused where it could never begin.
func (s *site) Request(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	c := &s.w.cfg.Cluster
	refused := func(what string) error {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: siteName, What: what, Do: "ask for less"}
	}
	switch {
	case req.Nodes < 1 || req.Nodes > c.Nodes || !req.PerNode.Fits(s.w.machine.size):
		return refused("it has no such nodes")
	case c.MaxTime > 0 && wall(req.Time) > c.MaxTime:
		return refused("its queue takes no such wall time")
	}
	g := &grant{site: s, id: id, workers: make([]*worker, req.Nodes), broken: make([]bool, req.Nodes)}
	s.allocs[id] = g
	g.alloc = s.w.submit(g, true, req.Nodes, wall(req.Time))
	return nil
}

// Adopt takes up an allocation; one that is not there is asked for.
func (s *site) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	g := s.allocs[id]
	if g == nil {
		return s.Request(ctx, id, req)
	}
	if g.alloc.state == running {
		s.say(step.AllocUp{Alloc: id, Ends: g.alloc.ends()})
	}
	return nil
}

// Release gives an allocation back.
func (s *site) Release(_ context.Context, id job.AllocID) error {
	if g := s.allocs[id]; g != nil {
		g.end()
	}
	return nil
}

// Clear has nothing to remove: nodes keep nothing.
func (s *site) Clear(context.Context, job.AllocID) error { return nil }

// Close ends the reports.
func (s *site) Close() error {
	s.closed = true
	return nil
}

func (s *site) say(in step.Input) {
	if !s.closed {
		s.report(in)
	}
}

// expect fills in when those that wait are to begin by the reservations as they are, as a
// driver keeps telling.
func (s *site) expect(live []job.Live) {
	starts := make(map[*allocation]job.Time)
	for e := range s.w.system.Waiting() {
		if e.Start != timeline.Never {
			starts[s.w.allocs[e.ID]] = e.Start
		}
	}
	for i := range live {
		if g := s.allocs[live[i].ID]; g != nil && live[i].Began == 0 {
			live[i].Start = starts[g.alloc]
		}
	}
}

// began tells that the allocation has begun; its workers are there a while later.
func (g *grant) began(a *allocation) {
	if g.site.fast(g) {
		return
	}
	w := g.site.w
	if w.cfg.Adaptor.Way == Own {
		g.site.say(step.AllocUp{Alloc: g.id})
	} else {
		w.agenda.note(a.ends(), limitRank, limit{g})
		g.site.say(step.AllocUp{Alloc: g.id, Ends: a.ends()})
	}
	if w.cfg.Cluster.StartUp > 0 {
		w.agenda.note(w.now.Add(w.cfg.Cluster.StartUp), endRank, g)
		return
	}
	g.happen()
}

// happen brings the workers up.
func (g *grant) happen() {
	for rank, node := range g.alloc.on {
		if g.alloc.state != running {
			return
		}
		if g.workers[rank] == nil && !g.broken[rank] {
			g.workers[rank] = newWorker(g, rank, node)
			g.site.dial(g.workers[rank])
		}
	}
}

// broke ends the worker of a node that failed. The allocation goes on with the others, as
// jobs of srun --no-kill do, and has no more use of that node. Without any it is over.
func (g *grant) broke(_ *allocation, rank int) {
	if g.broken[rank] {
		return // it had been repaired meanwhile
	}
	g.broken[rank] = true
	if !slices.Contains(g.broken, false) {
		g.end()
		g.site.say(step.AllocDown{Alloc: g.id, Reason: "all its nodes failed"})
		return
	}
	if k := g.workers[rank]; k != nil {
		k.die()
		g.site.say(step.NodeDown{Node: k.id, Gone: true, Reason: "its node failed"})
	}
}

// end ends the allocation and its workers.
func (g *grant) end() {
	delete(g.site.allocs, g.id)
	g.site.w.release(g.alloc)
	for _, k := range g.workers {
		if k != nil {
			k.die()
		}
	}
}

// limit is the end of an allocation's wall time.
type limit struct{ g *grant }

func (l limit) happen() {
	if l.g.alloc.state != running {
		return
	}
	l.g.end()
	l.g.site.say(step.AllocDown{Alloc: l.g.id, Reason: "its time is over"})
}
