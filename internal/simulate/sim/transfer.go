package sim

import (
	"math"

	"berth/internal/simulate/contention"
)

// transfer moves the data of a task between a rented machine and the data server. Machines share the
// server's rate like flows on a node share its network. The tasks of one machine share its own link
// equally.
type transfer struct {
	contention.Flow
	r *attempt
}

// newServer returns the data server, or nil if there is none or its rate is unlimited.
func newServer(w *world, c *Cloud) *host {
	if c == nil || c.Bytes <= 0 {
		return nil
	}
	rates := contention.Rates{contention.In: c.Server}
	if c.Server <= 0 {
		rates[contention.In] = math.MaxFloat64
	}
	return &host{w: w, node: contention.NewNode(rates, 0)}
}

// move transfers the data of a task, after which the task computes.
func (r *attempt) move() {
	w := r.k.g.site.w
	c, m := w.cfg.Cloud, r.k.rentedMachine
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

// done starts the computing of the task.
func (t *transfer) done() {
	t.r.moves = nil
	t.r.since = t.r.k.g.site.w.now
	t.r.compute()
}

// stop removes the remaining transfer from the server.
func (t *transfer) stop() {
	if t != nil {
		t.r.k.g.site.w.server.remove(&t.Flow)
	}
}
