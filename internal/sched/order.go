package sched

import "berth/internal/job"

// Claim is the first phase of some task that is ready to begin.
type Claim struct {
	Order uint64 // the job's place in the line of submissions and resumes
	Kind  job.TaskKind
}

// Before reports whether c goes first: first in, first out among jobs, and within
// a job maps before reduces, so that shuffles take only memory that no map wants.
func (c Claim) Before(d Claim) bool {
	if c.Order != d.Order {
		return c.Order < d.Order
	}
	return c.Kind < d.Kind
}

// Waiter is a running attempt that waits on its node for leave to go on. Waiters
// go before claims: what they hold already is of no use to anyone until they do.
type Waiter struct {
	Order uint64 // of the job
	Task  int
}

// Before reports whether w gets leave first.
func (w Waiter) Before(v Waiter) bool {
	if w.Order != v.Order {
		return w.Order < v.Order
	}
	return w.Task < v.Task
}
