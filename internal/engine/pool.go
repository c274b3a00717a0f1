package engine

import (
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/sched"
)

// shape is what two allocations must have in common for one to serve the other's jobs.
type shape struct {
	on         string
	nodes      int
	perNode    job.Resources
	time       time.Duration // a job with a limit shares no allocation that has none
	sortMemory int64
	scratch    string
	elastic    bool
	batch      string
}

// shapeOf returns the shape of an allocation. For an elastic one its size does not matter.
func shapeOf(r job.AllocRequest) shape {
	if r.Elastic {
		return shape{on: r.On, scratch: r.Scratch, elastic: true, batch: r.Batch.Key()}
	}
	return shape{on: r.On, nodes: r.Nodes, perNode: r.PerNode, time: r.Time, sortMemory: r.SortMemory, scratch: r.Scratch}
}

// pool is all allocations of one shape and the jobs that run on them.
type pool struct {
	sched.Pool
	shape  shape
	allocs []*alloc    // not over, oldest first
	nodes  []*node     // of those, that have ever been up, by index: as in Pool.Nodes
	active []*jobState // not over, by submission or resume

	done      uint64   // attempts done on its nodes, ever
	barren    int      // allocations in a row that ended without a node
	idleSince job.Time // when active became empty

	startUp time.Duration // of an elastic one: of its time that an allocation lasts before a node is up, see measureStartUp

	dirty bool // in Engine.dirtyPools
}

// poolFor returns the pool of that shape.
func (e *Engine) poolFor(s shape) *pool {
	for _, p := range e.pools {
		if p.shape == s {
			return p
		}
	}
	p := &pool{shape: s}
	p.Policy = e.cfg.Order.Policy(s.elastic, e.cfg.AgeingShare)
	e.pools = append(e.pools, p)
	return p
}

// prune forgets a pool that serves nobody.
func (e *Engine) prune(p *pool) {
	if len(p.allocs) == 0 && len(p.active) == 0 {
		e.pools = slices.DeleteFunc(e.pools, func(q *pool) bool { return p == q })
	}
}

// wanting reports whether a job of the pool has tasks that nodes could run.
func (p *pool) wanting() bool { return slices.ContainsFunc(p.active, (*jobState).active) }

// anyUp reports whether a node of the pool is up.
func (p *pool) anyUp() bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool { return n.state == up })
}

// enter puts a job behind all others of its pool.
func (p *pool) enter(j *jobState) {
	j.pool = p
	p.active = append(p.active, j)
}

// leave takes a job that is over out of its pool.
func (p *pool) leave(j *jobState, at job.Time) {
	p.active = slices.DeleteFunc(p.active, func(k *jobState) bool { return k == j })
	j.pool = nil
	if len(p.active) == 0 {
		p.idleSince = max(p.idleSince, at)
	}
}

// changed makes the scheduler look at every node again: one came, went or is trusted anew.
func (e *Engine) changed(p *pool) {
	p.Changed()
	e.mark(p)
}

// mark has the scheduler look at the pool.
func (e *Engine) mark(p *pool) {
	if !p.dirty {
		p.dirty = true
		e.dirtyPools = append(e.dirtyPools, p)
	}
}

// freed notes that something of the node became free.
func (e *Engine) freed(n *node) {
	if n.alloc == nil || n.alloc.ended {
		return
	}
	n.alloc.pool.Free(&n.Node)
	e.mark(n.alloc.pool)
}
