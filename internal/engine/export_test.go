package engine

import "fmt"

// Missed returns a claim that the scheduler left waiting though a node has room for
// it, found by looking at everything; empty if there is none.
func (e *Engine) Missed() string {
	for _, p := range e.pools {
		for _, c := range p.classes {
			if n := e.room(p, c); n != nil {
				return fmt.Sprintf("%v of %s on %s (held %v)", c.key, c.line[0].job.work.ID, n.id, p.held)
			}
		}
		for _, n := range p.nodes {
			if n.state == up && n.Waiting > 0 && n.firstWaiter().job.need(n.firstWaiter().id.Task).CPUs <= n.Free().CPUs {
				return fmt.Sprintf("%v, which waits for leave", n.firstWaiter().id)
			}
		}
	}
	return ""
}

// room returns a node that has room for the class and is not kept for a claim before it.
func (e *Engine) room(p *pool, c *class) *node {
	for _, n := range p.nodes {
		if n.state != up || !c.admits(&n.Node) || n.Health.Suspected(e.now) && p.hasTrusted(e.now) {
			continue
		}
		if n == p.held && c != p.heldFor && p.heldFor.line[0].claim().Before(c.line[0].claim()) && !p.spares(c) {
			continue
		}
		return n
	}
	return nil
}
