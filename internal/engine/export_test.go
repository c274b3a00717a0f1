package engine

import (
	"fmt"
	"slices"

	"berth/internal/job"
)

// Missed returns a claim that the scheduler left waiting though a node has room for
// it, found by looking at everything; empty if there is none.
func (e *Engine) Missed() string {
	for _, p := range e.pools {
		classes := slices.SortedFunc(slices.Values(p.classes), func(c, d *class) int {
			if c.line[0].claim().Before(d.line[0].claim()) {
				return -1
			}
			return 1
		})
		var room int64 // of the largest map before
		for _, c := range classes {
			d := *c
			d.room = room
			if n := e.room(p, &d); n != nil {
				return fmt.Sprintf("%v of %s on %s (held %v)", c.key, c.line[0].job.work.ID, n.id, p.held)
			}
			if c.key.kind == job.MapTask {
				room = max(room, c.key.need.Mem)
			}
		}
		for _, n := range p.nodes {
			if n.state == up && n.Waiting > 0 && !n.firstWaiter().hopeless(e.now) && n.firstWaiter().job.need(n.firstWaiter().id.Task).CPUs <= n.Free().CPUs {
				return fmt.Sprintf("%v, which waits for leave", n.firstWaiter().id)
			}
		}
	}
	return ""
}

// room returns a node that has room for the class and is not kept for a claim before it.
func (e *Engine) room(p *pool, c *class) *node {
	for _, n := range p.nodes {
		if n.state != up || !c.admits(&n.Node) || !n.inTime(e.now, c.key.span) || n.Health.Suspected(e.now) && p.hasTrusted(e.now) {
			continue
		}
		if n == p.held && p.heldFor.line[0].claim().Before(c.line[0].claim()) {
			order := p.heldOrder
			p.heldOrder = p.heldFor.line[0].job.order
			spares := p.spares(c)
			p.heldOrder = order
			if !spares {
				continue
			}
		}
		return n
	}
	return nil
}
