package sched

import (
	"fmt"

	"berth/internal/job"
)

// Order is how the jobs of a pool of allocations come one after another.
type Order string

// The orders. Auto is Shortest on allocations of a batch system, where what one job has is free
// for none of the others for hours, and FIFO on one machine, where a user's jobs come one
// after another and wait for nothing else: there they end in the order that the user sees.
const (
	Auto     Order = "auto"     // by the place; the zero value means the same
	FIFO     Order = "fifo"     // first in, first out
	Shortest Order = "shortest" // the shortest predicted remaining time first, with ageing
)

// On returns the order that it comes to on allocations of a batch system, or on one machine.
func (o Order) On(batch bool) Order {
	switch {
	case o == FIFO || o == Shortest:
		return o
	case batch:
		return Shortest
	}
	return FIFO
}

// ParseOrder returns the order of that name; the empty name is Auto's. where is what the
// user wrote it in, for the error.
func ParseOrder(where, name string) (Order, error) {
	switch o := Order(name); o {
	case "":
		return Auto, nil
	case Auto, FIFO, Shortest:
		return o, nil
	}
	return "", &job.Error{Class: job.User, Code: job.CodeConfig, Where: where,
		What: fmt.Sprintf("%q is no order of jobs", name), Do: "write auto, fifo or shortest"}
}
