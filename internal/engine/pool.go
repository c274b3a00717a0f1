package engine

import (
	"container/heap"
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
	shape     shape
	shortest  bool        // its order is sched.Shortest
	allocs    []*alloc    // not over, oldest first
	nodes     []*node     // of those, that have ever been up, by index
	active    []*jobState // not over, by submission or resume
	shufflers []*jobState // of those: that have reduces which shuffle

	done      uint64   // attempts done on its nodes, ever
	barren    int      // allocations in a row that ended without a node
	idleSince job.Time // when active became empty
	scale     int      // of its cores, see sched.PoolScale; 0: it never had any
	ageing    float64  // see sched.Ageing

	startUp time.Duration // of an elastic one: of its time that an allocation lasts before a node is up, see measureStartUp

	// What follows steers the scheduler and is found anew by a new coordinator.

	classes []*class
	byKey   map[classKey]*class
	freed   []*node   // nodes with something freed since the last pass
	held    *node     // kept for the first claim that found no room …
	heldFor *class    // … which is the head of this class …
	heldJob *jobState // … of this job
	dirty   bool      // in Engine.dirtyPools
	turned  bool      // the order of the classes' heads has changed since the last pass
}

// poolFor returns the pool of that shape.
func (e *Engine) poolFor(s shape) *pool {
	for _, p := range e.pools {
		if p.shape == s {
			return p
		}
	}
	p := &pool{shape: s, shortest: e.cfg.Order.On(s.elastic) == sched.Shortest, ageing: 1, byKey: make(map[classKey]*class)}
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
	for _, c := range p.classes {
		c.blocked = false
	}
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
	p := n.alloc.pool
	if !n.dirty {
		n.dirty = true
		p.freed = append(p.freed, n)
	}
	e.mark(p)
}

// enqueue puts the job's queues where they belong after anything about the job changed.
func (e *Engine) enqueue(j *jobState) {
	if j.pool != nil && j.pool.shape.elastic {
		e.review(j)
	}
	if j.pool != nil && j.pool.shortest {
		e.rerank(j)
	}
	for i := range j.queues {
		q := &j.queues[i]
		key, runnable := q.wants()
		switch {
		case q.class != nil && runnable && q.class.key == key:
		case q.class == nil && !runnable:
		default:
			e.dequeue(q)
			if runnable {
				e.join(q, key)
			}
		}
	}
}

// wants returns the class the queue belongs to, and whether any of its tasks may start now.
func (q *queue) wants() (classKey, bool) {
	j := q.job
	w, maps := &j.work, &j.counts[0]
	if !j.active() || q.ready() == 0 || j.unfinished() == 0 {
		return classKey{}, false
	}
	if q.kind != job.ReduceTask {
		return classKey{kind: q.kind, need: w.Need, span: j.waits.span[0]}, w.Throttle == 0 || maps.running < w.Throttle
	}
	key := classKey{kind: q.kind, need: w.ReduceNeed, span: j.waits.span[1]}
	if maps.done < maps.total {
		key.room = w.Need.Mem
	}
	return key, maps.done >= sched.SlowStart(maps.total, w.SlowStart)
}

func (e *Engine) join(q *queue, key classKey) {
	p := q.job.pool
	c := p.byKey[key]
	if c == nil {
		c = &class{key: key}
		p.byKey[key] = c
		p.classes = append(p.classes, c)
	}
	heap.Push(&c.line, q)
	q.class = c
	p.turned = p.turned || q.pos == 0
	e.mark(p)
}

// dequeue takes a queue out of its class, and the class out of its pool with its last queue.
func (e *Engine) dequeue(q *queue) {
	c := q.class
	if c == nil {
		return
	}
	heap.Remove(&c.line, q.pos)
	q.class = nil
	p := q.job.pool
	if len(c.line) == 0 {
		delete(p.byKey, c.key)
		p.classes = slices.DeleteFunc(p.classes, func(d *class) bool { return c == d })
	}
	e.mark(p) // what was kept for it may be free for others
}
