package ui

import (
	"fmt"
	"io"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// Machines is the JSON form of the rented machines. Keys are only added to it.
type Machines struct {
	Machines []driver.MachineStatus `json:"machines"` // rented machines that have not ended, the oldest first
}

// RentedMachines writes a table of rented machines.
func RentedMachines(w io.Writer, m Machines) error {
	if len(m.Machines) == 0 {
		return put(w, "no machines are rented\n")
	}
	t := newTable("ID", "TYPE", "STATE", "REGION", "FOR>", "COST>", "JOB")
	sum := 0.0
	for _, one := range m.Machines {
		purpose := one.Job
		if one.Foreign {
			purpose += " (of another state folder)"
		}
		t.add(one.ID, one.Type, one.State, one.Region, seconds(one.Seconds), job.Money(one.Cost), purpose)
		sum += one.Cost
	}
	_, err := fmt.Fprintf(w, "%s%s, %s so far\n", t, job.Count(len(m.Machines), "machine"), job.Money(sum))
	return err
}

// StoppedMachines lists the machines that were stopped.
func StoppedMachines(w io.Writer, m Machines) error {
	for _, one := range m.Machines {
		if _, err := fmt.Fprintf(w, "%s (%s) ends: it cost %s\n", clean(one.ID), clean(one.Type), job.Money(one.Cost)); err != nil {
			return err
		}
	}
	if len(m.Machines) == 0 {
		return put(w, "no machines are rented from this state folder\n")
	}
	return nil
}
