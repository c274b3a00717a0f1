package predict

import (
	"time"

	"berth/internal/job"
)

// Demands estimates, from attempts that were done, what each phase of a job takes of a node while it runs
// at full speed (docs/models.md, *Demands of phases*). The zero Demands is ready for use. An attempt costs some
// ten nanoseconds a phase, a demand is there at any time, and memory does not grow with their number.
type Demands struct {
	phases [len(demandPhases) + 1]*PhaseUse // by phase
}

// demandPhases are all phases, in the order of their numbers.
var demandPhases = [...]job.Phase{job.PhaseFetch, job.PhaseCompute, job.PhaseStore, job.PhaseMap, job.PhaseMerge,
	job.PhaseShuffle, job.PhaseSort, job.PhaseReduce}

// Add counts the phases of one attempt that was done.
func (d *Demands) Add(phases []job.PhaseStat) {
	for i := range phases {
		p := phases[i].Phase
		if p == job.PhaseNone || int(p) >= len(d.phases) {
			continue
		}
		if d.phases[p] == nil {
			d.phases[p] = &PhaseUse{}
		}
		d.phases[p].Add(&phases[i])
	}
}

// Demand returns what a phase takes, false where no attempt went through it.
func (d *Demands) Demand(p job.Phase) (job.PhaseDemand, bool) {
	if int(p) >= len(d.phases) || d.phases[p] == nil {
		return job.PhaseDemand{Phase: p}, false
	}
	return d.phases[p].Demand(p)
}

// Count returns how many attempts went through a phase.
func (d *Demands) Count(p job.Phase) int64 {
	if int(p) >= len(d.phases) || d.phases[p] == nil {
		return 0
	}
	return d.phases[p].phases
}

// All returns the demands of the phases that attempts went through.
func (d *Demands) All() []job.PhaseDemand {
	var list []job.PhaseDemand
	for _, p := range demandPhases {
		if t, ok := d.Demand(p); ok {
			list = append(list, t)
		}
	}
	return list
}

const (
	// shortPhase is how long a phase must last to say something about rates by itself. Shorter ones are
	// joined until they have lasted that long.
	shortPhase = 50 * time.Millisecond

	// Of a thousand attempts so many may have had a higher rate, or a higher peak of memory. Contention
	// only lowers rates, so the demand at full speed is near the highest, and rates are soft; memory is hard.
	spareRates  = 100
	spareMemory = 10
)

// rated are the resources of which phases take so much a second.
var rated = [...]job.Resource{job.CPU, job.Disk, job.Net}

// perSecond turns an amount a nanosecond into the unit of the rate: thousandths of a core, and bytes/s.
var perSecond = [...]float64{job.CPU: job.MilliCore, job.Disk: 1e9, job.Net: 1e9}
