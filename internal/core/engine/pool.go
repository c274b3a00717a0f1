package engine

import (
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// pool is all allocations of one shape and the jobs that run on them.
type pool struct {
	sched.Pool
	shape  job.Shape
	allocs []*alloc    // not over, oldest first
	nodes  []*node     // their nodes that have ever been up, by index, as in Pool.Nodes
	active []*jobState // jobs that are not over, by submission or resume

	done      uint64   // number of attempts ever done on its nodes
	idleSince job.Time // when active became empty

	startUp sched.StartUp

	dirty bool // in Engine.dirtyPools
}

// poolFor returns the pool of that shape.
func (e *Engine) poolFor(s job.Shape) *pool {
	for _, p := range e.pools {
		if p.shape == s {
			return p
		}
	}
	p := &pool{shape: s, Pool: e.cfg.Scheduler.Pool(e.cfg.Order, !s.Endless(), e.cfg.AgeingShare)}
	p.Scarce = e.scarce
	e.pools = append(e.pools, p)
	return p
}

// prunePool removes a pool that serves no job.
func (e *Engine) prunePool(p *pool) {
	if len(p.allocs) == 0 && len(p.active) == 0 {
		e.pools = slices.DeleteFunc(e.pools, func(q *pool) bool { return p == q })
	}
}

// anyUp reports whether a node of the pool is up.
func (p *pool) anyUp() bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool { return n.state == up })
}

// addJob puts a job at the end of the pool's line.
func (p *pool) addJob(j *jobState) {
	j.pool = p
	p.Enter(&j.Job)
	p.active = append(p.active, j)
}

// removeJob removes a job that is over from its pool.
func (p *pool) removeJob(j *jobState, at job.Time) {
	p.active = slices.DeleteFunc(p.active, func(k *jobState) bool { return k == j })
	p.Leave(&j.Job)
	p.Gangs = p.Gangs && slices.ContainsFunc(p.active, func(k *jobState) bool {
		return slices.ContainsFunc(k.of, func(t *byNeeds) bool { return t.Begin.Several() })
	})
	j.pool = nil
	if len(p.active) == 0 {
		p.idleSince = max(p.idleSince, at)
	}
}

// changed makes the scheduler search every node again, as one came, went or is no longer suspected.
func (e *Engine) changed(p *pool) {
	p.Changed()
	e.markPool(p)
}

// markPool makes the scheduler run for the pool.
func (e *Engine) markPool(p *pool) {
	if !p.dirty {
		p.dirty = true
		e.dirtyPools = append(e.dirtyPools, p)
	}
}

// nodeFreed notes that resources of the node were freed.
func (e *Engine) nodeFreed(n *node) {
	if n.alloc == nil || n.alloc.ended {
		return
	}
	n.alloc.pool.Free(&n.Node)
	e.markPool(n.alloc.pool)
}
