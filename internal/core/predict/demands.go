package predict

import (
	"time"

	"berth/internal/core/job"
)

// Demands estimates, from finished attempts, what each phase of a job uses of a node at full speed (docs/models.md,
// "Demands of phases"). The zero Demands is ready to use. An attempt costs some ten nanoseconds a phase, a demand is
// available at any time, and memory does not grow with the number of attempts.
type Demands [job.NumPhases]*PhaseUse // nil: no attempt went through that phase; each running job has one, and few phases

// Add counts the phases of one finished attempt.
func (d *Demands) Add(phases []job.PhaseStat) {
	for i := range phases {
		p := phases[i].Phase
		if p == job.PhaseNone || p >= job.NumPhases {
			continue
		}
		if d[p] == nil {
			d[p] = &PhaseUse{}
		}
		d[p].Add(&phases[i])
	}
}

// Demand returns the demand of a phase, false where no attempt went through it.
func (d *Demands) Demand(p job.Phase) (job.PhaseDemand, bool) {
	if d[p] == nil {
		return job.PhaseDemand{Phase: p}, false
	}
	return d[p].Demand(p)
}

// Count returns how many attempts went through a phase.
func (d *Demands) Count(p job.Phase) int64 {
	if d[p] == nil {
		return 0
	}
	return d[p].phases
}

const (
	// shortPhase is the least duration of a phase from which a rate is computed. Shorter phases are joined until they
	// have lasted that long.
	shortPhase = 50 * time.Millisecond

	// Of a thousand attempts, spareRates may have a higher rate than the demand and spareMemory a higher peak of memory.
	// Contention only lowers rates, so the demand at full speed is near the highest. A rate that is exceeded costs speed,
	// exceeded memory may end the attempt.
	spareRates  = 100
	spareMemory = 10
)

// rated are the resources that have a rate.
var rated = [...]job.Resource{job.CPU, job.Disk, job.Net}

// perSecond converts an amount per nanosecond into the unit of the rate: thousandths of a core, and bytes/s.
var perSecond = [...]float64{job.CPU: job.Milli, job.Disk: 1e9, job.Net: 1e9}
