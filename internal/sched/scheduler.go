package sched

import (
	"fmt"

	"berth/internal/job"
)

// Scheduler is the name of a policy by which a coordinator places tasks and their phases on nodes.
type Scheduler string

// The schedulers, each in a file of its own.
const (
	Slots      Scheduler = "slots"      // fixed numbers of map and reduce slots on a node, fair sharing between jobs
	Containers Scheduler = "containers" // containers of one size for each kind of task, after its largest phase
	Packing    Scheduler = "packing"    // tasks where what they take on average aligns best with what is free, dominant resource fairness
	Prism      Scheduler = "prism"      // phase by phase, as the paper phase-level-scheduling has it
	Phases     Scheduler = "phases"     // phase by phase, each where it is worth most, by what is left of jobs
	Cores      Scheduler = "cores"      // whole cores from the beginning of a task to its end
)

// DefaultScheduler is the scheduler where the user names none.
const DefaultScheduler = Phases

// ParseScheduler returns the scheduler of that name; the empty name is DefaultScheduler's. where is
// what the user wrote it in, for the error.
func ParseScheduler(where, name string) (Scheduler, error) {
	switch s := Scheduler(name); s {
	case "":
		return DefaultScheduler, nil
	case Slots, Containers, Packing, Prism, Phases, Cores:
		return s, nil
	}
	return "", &job.Error{Class: job.User, Code: job.CodeConfig, Where: where,
		What: fmt.Sprintf("%q is no scheduler", name), Do: "write slots, containers, packing, prism, phases or cores"}
}
