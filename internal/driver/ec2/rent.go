package ec2

import (
	"strings"

	"berth/internal/core/job"
	"berth/internal/driver"
)

var _ driver.Renter = (*Driver)(nil)

// givenBack is the beginning of the reason why a rank whose machine was given back has none. Such a rank can get a machine again.
const givenBack = "it was given back: "

// Machines returns the machines of an allocation that cost money, and what the others have cost. Machines that are still to be rented count from now.
func (d *Driver) Machines(id job.AllocID) (all []driver.RentedMachine, gone float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rentals[id]
	if r == nil {
		return nil, 0
	}
	occupied := map[int]bool{}
	for _, m := range r.Machines {
		switch {
		case m.Ended != 0:
			gone += r.cost(&m, m.Ended)
		case m.Rank >= 0 && r.Gone[m.Rank] == "":
			occupied[m.Rank] = true
			all = append(all, driver.RentedMachine{Node: id.Node(m.Rank), Kind: m.Kind, Since: m.Since, Up: m.Up != 0})
		default: // it will end in a moment
			gone += r.cost(&m, d.s.Wall())
		}
	}
	for rank := range r.Rent.Most() {
		if r.Gone[rank] == "" && !occupied[rank] {
			all = append(all, driver.RentedMachine{Node: id.Node(rank), Kind: r.Rent.Wanted(rank), Since: d.s.Wall()})
		}
	}
	return all, gone
}

// Rent gives further ranks of a type a machine: ranks that needed none so far, or whose machines were given back. Ranks whose machines the user has stopped, or
// for which no machine was available, get none.
func (d *Driver) Rent(id job.AllocID, kind, count int) {
	d.mu.Lock()
	defer d.unlock()
	r := d.rentals[id]
	if r == nil || r.Over {
		return
	}
	for rank := range r.Rent.Most() {
		if why := r.Gone[rank]; count > 0 && r.Rent.Wanted(rank) == kind && (why == notNeeded || strings.HasPrefix(why, givenBack)) {
			delete(r.Gone, rank)
			count--
		}
	}
	r.save()
	r.poke()
}

// GiveBack ends the machine of a rank.
func (d *Driver) GiveBack(id job.AllocID, node job.NodeID, reason string) {
	d.mu.Lock()
	defer d.unlock()
	r := d.rentals[id]
	if r == nil || r.Over {
		return
	}
	for rank := range r.Rent.Most() {
		if id.Node(rank) == node && r.Gone[rank] == "" {
			r.Gone[rank] = givenBack + reason
			r.save()
			r.poke()
		}
	}
}
