package sched

import "berth/internal/job"

// Demand is what a task takes of its node in each of its phases, indexed by phase.
type Demand [job.PhaseReduce + 1]job.Vector

// DemandOf returns the demand of a task that needs so much, as far as it is known today: the
// same in all phases, but that a shuffle takes no core. So however many reduces wait for
// maps, maps can run.
func DemandOf(kind job.TaskKind, need job.Resources) (d Demand) {
	for _, p := range kind.Phases() {
		d[p] = need.Vector()
	}
	d[job.PhaseShuffle].CPU = 0
	return d
}

// Most returns the most of each resource that one of the phases after one and through another takes.
func (d *Demand) Most(after, through job.Phase) (most job.Vector) {
	for p := after + 1; p <= min(through, job.PhaseReduce); p++ {
		most = most.Max(d[p])
	}
	return most
}

// KindIndex returns the index of a kind of task in arrays of a job's kinds: 0 for bag tasks and
// maps, 1 for reduces.
func KindIndex(k job.TaskKind) int {
	if k == job.ReduceTask {
		return 1
	}
	return 0
}
