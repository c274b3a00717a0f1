package sched

// Order is how the jobs of a pool of allocations come one after another.
type Order string

// The orders.
const (
	FIFO     Order = "fifo"     // first in, first out; the zero value means the same
	Shortest Order = "shortest" // the shortest predicted remaining time first, with ageing
)
