package sim

import (
	"math"

	"berth/internal/sim/contention"
)

// transfer is the data of a task on their way between a rented machine and the data server. Machines share the server's capacity as
// flows on a node share its network; tasks of one machine have equal parts of its own link.
type transfer struct {
	contention.Flow
	r *attempt
}

// newServer returns the data server; nil where there is none, or where its capacity has no limit.
func newServer(w *world, c *Cloud) *host {
	if c == nil || c.Bytes <= 0 {
		return nil
	}
	rates := contention.Rates{contention.In: c.Server}
	if c.Server <= 0 {
		rates[contention.In] = math.MaxFloat64
	}
	return &host{w: w, node: contention.NewNode(rates)}
}

// move has a task's data moved, after which it computes.
func (r *attempt) move() {
	w := r.k.g.site.w
	c, m := w.cfg.Cloud, r.k.hired
	t := &m.c.types[m.kind]
	cost := c.Bytes * c.Transfer
	m.c.spent += cost
	m.c.app.out.Cost += cost
	rate := t.Rate / float64(max(1, t.Slots))
	if rate <= 0 {
		rate = c.Server
	}
	if rate <= 0 {
		r.compute()
		return
	}
	r.moves = &transfer{r: r, Flow: contention.Flow{Demand: contention.Rates{contention.In: rate}, Limit: 1, Left: c.Bytes / rate}}
	r.moves.Owner = r.moves
	w.server.add(&r.moves.Flow)
}

// done has the task compute.
func (t *transfer) done() {
	t.r.moves = nil
	t.r.since = t.r.k.g.site.w.now
	t.r.compute()
}

// stop takes what is left of the data from the server.
func (t *transfer) stop() {
	if t != nil {
		t.r.k.g.site.w.server.remove(&t.Flow)
	}
}
