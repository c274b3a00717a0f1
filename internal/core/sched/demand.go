package sched

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Demand is what a task uses of its node in each of its phases, indexed by phase.
type Demand [job.NumPhases]job.Vector

// Most returns the maximum of each resource over the phases that come later than after, up to and including through.
func (d *Demand) Most(after, through job.Phase) (most job.Vector) {
	for p := after + 1; p <= min(through, job.NumPhases-1); p++ {
		most = most.Max(d[p])
	}
	return most
}

// KindIndex returns the index of a kind of task in arrays of a job's kinds: 0 for bag tasks and
// maps, 1 for reduces. The tasks of a bag may have different needs (Job.By) and are of one kind.
func KindIndex(k job.TaskKind) int {
	if k == job.ReduceTask {
		return 1
	}
	return 0
}

// Known is the demand of the phases of a job's tasks at full speed: from the profile of its application and from
// its own attempts that are done. The profile weighs as much as planWeight of those attempts.
type Known struct {
	profile [job.NumPhases]job.PhaseDemand
	run     predict.Demands
	done    int // number of attempts in run
}

// AddProfile adds the demands of the profile.
func (k *Known) AddProfile(profile []job.PhaseDemand) {
	for _, d := range profile {
		if d.Phase < job.NumPhases {
			k.profile[d.Phase] = d
		}
	}
}

// Learn adds an attempt that is done. It reports whether the demands should be computed again: after the
// first attempt, and whenever their number has doubled.
func (k *Known) Learn(stats []job.PhaseStat) bool {
	k.run.Add(stats)
	k.done++
	return k.done&(k.done-1) == 0
}

// Phase returns the demand of a phase, and whether it is known.
func (k *Known) Phase(p job.Phase) (job.PhaseDemand, bool) {
	run, measured := k.run.Demand(p)
	told := k.profile[p]
	switch known := told.Phase == p && p != job.PhaseNone; {
	case !known:
		return run, measured
	case !measured:
		return told, true
	}
	n := float64(k.run.Count(p))
	mean := func(a, b float64) float64 { return (float64(a*planWeight) + float64(b*n)) / (planWeight + n) }
	whole := func(a, b int64) int64 { return int64(mean(float64(a), float64(b))) }
	d := job.PhaseDemand{Phase: p, Seconds: mean(told.Seconds, run.Seconds)}
	d.Demand = job.Vector{CPU: whole(told.Demand.CPU, run.Demand.CPU), Memory: run.Demand.Memory,
		Disk: whole(told.Demand.Disk, run.Demand.Disk), Net: whole(told.Demand.Net, run.Demand.Net)}
	if n < planWeight { // memory is a hard limit, and the first attempts may all have been small
		d.Demand.Memory = max(run.Demand.Memory, told.Demand.Memory)
	}
	return d, true
}

// lasts returns how long a phase takes at full speed; 0: unknown.
func (k *Known) lasts(p job.Phase) time.Duration {
	d, _ := k.Phase(p)
	return job.Seconds(d.Seconds)
}

// grains is the number of steps in which a demand doubles. Demands that are nearly the same become equal, so
// that jobs of one application share a group.
const grains = 8

// Measured returns the demand of the tasks, from what is known. It keeps what the user requested:
// a bag task holds its cores, and so does a task that requested more than one core; a task's memory never exceeds
// its limit. A phase of unknown demand has the need of the whole task.
func (t *Tasks) Measured() (d Demand) {
	need, kind, j := t.Need, t.Kind(), t.Begin.Job
	for _, p := range kind.Phases() {
		d[p] = need.Vector()
		if p == job.PhaseShuffle {
			d[p].CPU = 0
		}
		known, ok := j.Known.Phase(p)
		if !ok {
			continue
		}
		takes := Coarse(known.Demand)
		if kind != job.BagTask && need.CPUs <= 1 {
			d[p].CPU = takes.CPU
		}
		if m := takes.Memory; kind != job.BagTask && m > 0 && (need.Mem == 0 || m < need.Mem) {
			d[p].Memory = m
		}
		d[p].Disk, d[p].Net = takes.Disk, takes.Net
	}
	return d
}

// Coarse rounds a demand, so that demands that are nearly the same become equal.
func Coarse(v job.Vector) job.Vector {
	return job.Vector{CPU: coarseCPU(v.CPU), Memory: coarse(v.Memory), Disk: coarse(v.Disk), Net: coarse(v.Net)}
}

// coarseCPU rounds to tenths of a core, so that a whole core stays one and no task uses less than a tenth.
func coarseCPU(v int64) int64 {
	const tenth = job.Milli / 10
	if v <= 0 {
		return 0
	}
	return max(tenth, (v+tenth/2)/tenth*tenth)
}

// coarse rounds an amount up to one of the steps of grains.
func coarse(v int64) int64 {
	if v <= 0 {
		return 0
	}
	return job.Steps(v, grains)
}
