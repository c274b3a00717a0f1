package sim

import (
	"slices"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/simulate/batch"
)

// allocation is a job of the batch system: a rigid job, or an allocation that a coordinator
// requested.
type allocation struct {
	id    batch.ID
	owner owner
	queue *queue // its partition
	user  string // empty: nobody who submits elastic jobs
	nodes int
	limit time.Duration
	state allocState
	began job.Time
	on    []int // the indices of its nodes, ascending
}

type allocState uint8

const (
	waiting allocState = iota
	running
	over
)

// owner receives the events of an allocation.
type owner interface {
	// began reports that the allocation has its nodes.
	began()
	// nodeFailed reports that the allocation's node with that rank failed.
	nodeFailed(rank int)
}

// ends returns the instant at which the wall time ends.
func (a *allocation) ends() job.Time { return a.began.Add(a.limit) }

// submit puts an allocation into the queue. The owner is called when the allocation begins.
func (w *World) submit(owner owner, q *queue, user string, nodes int, limit time.Duration) *allocation {
	a := &allocation{owner: owner, queue: q, user: user, nodes: nodes, limit: limit}
	w.enqueue(a)
	return a
}

// enqueue puts an allocation into the queue. While failed nodes leave the cluster too small for the
// allocation, the allocation is parked instead.
func (w *World) enqueue(a *allocation) {
	if a.nodes > a.queue.System.Nodes() {
		w.parked = append(w.parked, a)
		return
	}
	a.id = batch.ID(len(w.allocs))
	w.allocs = append(w.allocs, a)
	a.queue.Submit(w.now, a.id, a.nodes, a.limit)
	w.changed = true
}

// release ends a running allocation or cancels a waiting one. It does nothing to an allocation that
// has ended.
func (w *World) release(a *allocation) {
	switch a.state {
	case waiting:
		if i := slices.Index(w.parked, a); i >= 0 {
			w.parked = slices.Delete(w.parked, i, i+1)
		} else {
			a.queue.Cancel(w.now, a.id)
			w.changed = true
		}
	case running:
		w.account(a)
		a.queue.End(w.now, a.id)
		if gone := w.machine.reclaim(a); gone > 0 {
			a.queue.Resize(w.now, -gone)
		}
		w.changed = true
	}
	a.state = over
}

// account adds the node-seconds of the allocation to the result.
func (w *World) account(a *allocation) {
	held := float64(a.nodes) * w.now.Sub(a.began).Seconds()
	if w.cfg.Adaptor.History {
		of := starts.Job{User: cluster.Number(a.user), Nodes: int32(a.nodes), Limit: a.limit}
		w.history.Ended = append(w.history.Ended, starts.Ended{Job: of, At: w.now, Run: max(w.now.Sub(a.began), time.Second)})
	}
	if a.user != "" {
		w.result.HeldElastic += held
	} else {
		w.result.HeldRigid += held
	}
}

// unpark enqueues the parked allocations again. Those that are still too large are parked again.
func (w *World) unpark() {
	parked := w.parked
	w.parked = nil
	for _, a := range parked {
		w.enqueue(a)
	}
}
