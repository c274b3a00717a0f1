package sched

import "berth/internal/job"

// FirstLeave returns the last phase that an attempt may run through without asking.
// Bag tasks and maps run to their end. A reduce gets its shuffle only, which takes
// memory but no core: so however many reduces wait for maps, maps can run.
func FirstLeave(kind job.TaskKind) job.Phase {
	phases := kind.Phases()
	if kind == job.ReduceTask {
		return phases[0]
	}
	return phases[len(phases)-1]
}

// NextLeave returns the phase through which an attempt may run that waits after its first leave.
func NextLeave(kind job.TaskKind) job.Phase {
	phases := kind.Phases()
	return phases[len(phases)-1]
}

// Holds returns what an attempt takes of its node while it has leave through that phase.
func Holds(kind job.TaskKind, leave job.Phase, need job.Resources) job.Resources {
	if kind == job.ReduceTask && leave == job.PhaseShuffle {
		need.CPUs = 0
	}
	return need
}
