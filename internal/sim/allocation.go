package sim

import (
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/sim/batch"
)

// allocation is a job of the batch system: a rigid job, or an allocation that a coordinator
// asked for.
type allocation struct {
	id      batch.ID
	owner   owner
	elastic bool
	nodes   int
	limit   time.Duration
	state   allocState
	began   job.Time
	on      []int // its nodes, in the order of their numbers
}

type allocState uint8

const (
	waiting allocState = iota
	running
	over
)

// owner is told what becomes of an allocation.
type owner interface {
	// began: it has its nodes from now on.
	began(a *allocation)
	// broke: the node of that rank failed under it.
	broke(a *allocation, rank int)
}

// ends returns when its time is over.
func (a *allocation) ends() job.Time { return a.began.Add(a.limit) }

// submit puts an allocation into the queue; the owner is told when it begins.
func (w *world) submit(owner owner, elastic bool, nodes int, limit time.Duration) *allocation {
	a := &allocation{owner: owner, elastic: elastic, nodes: nodes, limit: limit}
	w.enqueue(a)
	return a
}

// enqueue puts an allocation into the queue. One for which the cluster has too few nodes at
// the moment, as some are down, is put there when they are back.
func (w *world) enqueue(a *allocation) {
	if a.nodes > w.system.Nodes() {
		w.parked = append(w.parked, a)
		return
	}
	a.id = batch.ID(len(w.allocs))
	w.allocs = append(w.allocs, a)
	w.system.Submit(w.now, a.id, a.nodes, a.limit)
	w.changed = true
}

// release ends an allocation, or takes it out of the queue. One that is over stays so.
func (w *world) release(a *allocation) {
	switch a.state {
	case waiting:
		if i := slices.Index(w.parked, a); i >= 0 {
			w.parked = slices.Delete(w.parked, i, i+1)
		} else {
			w.system.Cancel(w.now, a.id)
			w.changed = true
		}
	case running:
		w.account(a)
		w.system.End(w.now, a.id)
		if gone := w.machine.give(a); gone > 0 {
			w.system.Resize(w.now, -gone)
		}
		w.changed = true
	}
	a.state = over
}

// account adds what the allocation held to the result.
func (w *world) account(a *allocation) {
	held := float64(a.nodes) * w.now.Sub(a.began).Seconds()
	if a.elastic {
		w.result.HeldElastic += held
	} else {
		w.result.HeldRigid += held
	}
}

// unpark puts those into the queue for which there are nodes again.
func (w *world) unpark() {
	parked := w.parked
	w.parked = nil
	for _, a := range parked {
		w.enqueue(a)
	}
}
