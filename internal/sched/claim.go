package sched

import "berth/internal/job"

// Place is where a job stands in the line of its pool.
type Place struct {
	Rank  job.Time // see the function Rank; the same for all jobs in FIFO
	Order uint64   // in the line of submissions and resumes
}

// Before reports whether a job at p goes before one at q: the lower rank, and among
// equals the first in.
func (p Place) Before(q Place) bool {
	if p.Rank != q.Rank {
		return p.Rank < q.Rank
	}
	return p.Order < q.Order
}

// Claim is the first phase of some task that is ready to begin.
type Claim struct {
	Place // of its job
	Kind  job.TaskKind
}

// Before reports whether c goes first: by the jobs' places, and within a job maps before
// reduces, so that shuffles take only memory that no map wants.
func (c Claim) Before(d Claim) bool {
	if c.Place != d.Place {
		return c.Place.Before(d.Place)
	}
	return c.Kind < d.Kind
}

// Waiter is a running attempt that waits on its node for leave to go on. Waiters
// go before claims: what they hold already is of no use to anyone until they do.
type Waiter struct {
	Place // of its job when it began to wait: later changes would have nodes looked at for nothing
	Task  int
}

// Before reports whether w gets leave first.
func (w Waiter) Before(v Waiter) bool {
	if w.Place != v.Place {
		return w.Place.Before(v.Place)
	}
	return w.Task < v.Task
}
