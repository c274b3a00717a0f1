package sched

import (
	"fmt"

	"berth/internal/core/job"
)

// Scheduler is the name of a policy by which a coordinator assigns tasks and their phases to nodes.
type Scheduler string

// The schedulers, each in a file of its own.
const (
	Slots      Scheduler = "slots"      // fixed numbers of map and reduce slots on a node, fair sharing between jobs
	Containers Scheduler = "containers" // containers of one size for each kind of task, as large as its largest phase
	Packing    Scheduler = "packing"    // tasks where their mean demand aligns best with the free resources, dominant resource fairness
	Prism      Scheduler = "prism"      // phase by phase, from the paper phase-level-scheduling
	Phases     Scheduler = "phases"     // phase by phase, each where its utility is highest, with the remaining work of jobs
	Cores      Scheduler = "cores"      // whole cores from the start of a task to its end
)

// DefaultScheduler is the scheduler if the user names none.
const DefaultScheduler = Phases

// ParseScheduler returns the scheduler of that name; the empty name means DefaultScheduler. where names
// the flag or file of the name, for the error.
func ParseScheduler(where, name string) (Scheduler, error) {
	switch s := Scheduler(name); s {
	case "":
		return DefaultScheduler, nil
	case Slots, Containers, Packing, Prism, Phases, Cores:
		return s, nil
	}
	return "", &job.Error{Class: job.User, Code: job.CodeConfig, Where: where,
		What: fmt.Sprintf("there is no scheduler %q", name), Do: "write slots, containers, packing, prism, phases or cores"}
}
