package engine

import (
	"container/heap"

	"berth/internal/sched"
)

// cores returns how many cores the pool's allocations have that have begun.
func (p *pool) cores() int {
	n := 0
	for _, a := range p.allocs {
		if a.up() {
			n += a.req.Nodes * a.req.PerNode.CPUs
		}
	}
	return n
}

// resize takes in that an allocation of the pool has begun or is over. How fast jobs age
// depends on how many cores the pool has, so where that has doubled or halved all its jobs
// are ranked anew. That costs as much as there are jobs.
func (e *Engine) resize(p *pool) {
	p.scale = sched.PoolScale(p.scale, p.cores())
	ageing := sched.Ageing(p.scale, e.cfg.AgeingShare)
	if !p.shortest || ageing == p.ageing {
		return
	}
	p.ageing = ageing
	for _, j := range p.active {
		j.place.Rank = p.rankOf(j)
	}
	for _, c := range p.classes {
		heap.Init(&c.line)
	}
	for _, n := range p.nodes {
		if n.Waiting == 0 {
			continue
		}
		for _, a := range n.live {
			a.since = a.job.place.Rank
		}
		e.freed(n) // another of those that wait there may be the first now
	}
	p.turned = true
	e.changed(p)
}
