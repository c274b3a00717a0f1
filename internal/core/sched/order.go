package sched

import (
	"fmt"

	"berth/internal/core/job"
)

// Order is the order of the jobs of a pool.
type Order string

// The orders. Auto is Shortest on allocations of a batch system, where a long job would keep others
// waiting for hours, and FIFO on one machine, where the jobs of one user come one after
// another and are expected to end in the order of submission.
const (
	Auto     Order = "auto"     // by the backend; the zero value means the same
	FIFO     Order = "fifo"     // first in, first out
	Shortest Order = "shortest" // the shortest predicted remaining time first, with ageing
)

// On returns the order that o means on allocations of a batch system, or on one machine.
func (o Order) On(batch bool) Order {
	switch {
	case o == FIFO || o == Shortest:
		return o
	case batch:
		return Shortest
	}
	return FIFO
}

// ParseOrder returns the order of that name; the empty name means Auto. where names the flag or
// file of the name, for the error.
func ParseOrder(where, name string) (Order, error) {
	switch o := Order(name); o {
	case "":
		return Auto, nil
	case Auto, FIFO, Shortest:
		return o, nil
	}
	return "", job.ConfigError(where, fmt.Sprintf("there is no order of jobs %q", name), "write auto, fifo or shortest")
}
