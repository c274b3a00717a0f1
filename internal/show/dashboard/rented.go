package dashboard

import (
	"context"
	"sync"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/server/report"
	"berth/internal/show/ui"
)

// The shortest intervals between two requests to the provider of rented machines: after an answer, and after a failure.
const (
	everyBill = 30 * time.Second
	afterFail = 2 * time.Second
)

// patience is the longest wait of a page for the answer.
const patience = 5 * time.Second

// rentedView describes the machines that a job rents.
type rentedView struct {
	Types    []rentedType           `json:"types"`
	Budget   float64                `json:"budget"`     // 0: no limit
	Deadline float64                `json:"deadline_s"` // after submission; 0: none
	Machines []driver.MachineStatus `json:"machines"`   // those that exist, as berth machines list prints them
	Cost     float64                `json:"cost"`       // their cost so far
	Front    []job.Choice           `json:"front"`      // from which the types were chosen; empty: they were not chosen from one
	Problem  string                 `json:"problem,omitempty"`
}

// rentedType is a type of machine that the plan chose.
type rentedType struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	Price float64 `json:"price"` // of a machine for an hour; 0: not known
}

// bills is the last answer of the provider.
type bills struct {
	mu       sync.Mutex // guards what follows
	at       time.Time
	machines ui.Machines
	err      error
}

// bill asks the provider, and caches the answer for a while.
func (d *documents) bill(ctx context.Context) (ui.Machines, error) {
	b := &d.bills
	b.mu.Lock()
	defer b.mu.Unlock()
	every := everyBill
	if b.err != nil {
		every = afterFail
	}
	if time.Since(b.at) > every {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		b.machines, b.err = d.Machines(ctx)
		b.at = time.Now()
	}
	return b.machines, b.err
}

// rented returns the machines of a job, nil for one that rents none.
func (d *documents) rented(ctx context.Context, rent job.Rent, v report.JobView) *rentedView {
	if len(rent.Machines) == 0 {
		return nil
	}
	out := &rentedView{Types: []rentedType{}, Budget: rent.Budget, Deadline: rent.Deadline.Seconds(), Machines: []driver.MachineStatus{}, Front: append([]job.Choice{}, rent.Front...)}
	for _, m := range rent.Machines {
		out.Types = append(out.Types, rentedType{m.Name, m.Count, m.Price})
	}
	if v.State.Final() {
		return out
	}
	all, err := d.bill(ctx)
	if err != nil {
		out.Problem = err.Error()
	}
	allocs := map[string]bool{}
	for _, n := range v.Nodes {
		allocs[string(job.NodeID(n.Node).Alloc())] = true
	}
	for _, m := range all.Machines {
		if !m.Foreign && (allocs[m.Alloc] || m.Job == v.Name) {
			out.Machines = append(out.Machines, m)
			out.Cost += m.Cost
		}
	}
	return out
}
