// Package schedulers has the schedulers of other systems, with which those of berth are compared: of Hadoop 1, of YARN,
// and of Tetris. No job needs them: only berth-lab offers them to a coordinator.
//
// Each is rules (sched.Rules) that replace some of those of the scheduler sched.Cores. The package is as pure as sched.
package schedulers

import "berth/internal/core/sched"

// The schedulers, each in a file of its own.
var (
	// Slots has fixed numbers of map and reduce slots on a node, and shares them fairly between jobs.
	Slots = &sched.Scheduler{Name: "slots", Line: sched.Shares, Rules: func(base sched.CoreRules) sched.Rules { return slots{base} }}
	// SlotsLocal are Slots that prefer jobs with data on the node.
	SlotsLocal = &sched.Scheduler{Name: "slots-local", Line: sched.Shares, Rules: func(base sched.CoreRules) sched.Rules { return slotsLocal{slots{base}} }}
	// Containers has containers of one size for each kind of task, as large as its largest phase.
	Containers = &sched.Scheduler{Name: "containers", Line: sched.Arrived, Rules: func(base sched.CoreRules) sched.Rules { return containers{base} }}
	// Packing starts tasks where their mean demand aligns best with the free resources, with dominant resource fairness.
	Packing = &sched.Scheduler{Name: "packing", Line: sched.Shares, Rules: func(base sched.CoreRules) sched.Rules { return packing{base} }}
)

// Others returns the schedulers of other systems.
func Others() []*sched.Scheduler { return []*sched.Scheduler{Slots, Containers, Packing} }

// All returns all schedulers in the order in which they are compared.
func All() []*sched.Scheduler { return append(Others(), sched.Prism, sched.Phases, sched.Cores) }
