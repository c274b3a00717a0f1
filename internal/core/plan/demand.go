package plan

import (
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Demand is what an attempt uses of its node in a phase at full speed, by the application's profile. A resource of 0
// is unknown or not used.
type Demand struct {
	Phase   string     `json:"phase"`
	Demand  job.Vector `json:"takes"`   // the demand; 0: not known, or none
	Seconds float64    `json:"seconds"` // mean duration of the phase at full speed
}

// demandsOf returns the measured demands of a job's phases, from runs of about its size.
func demandsOf(prof *predict.Profile) []Demand {
	if prof == nil {
		return nil
	}
	var list []Demand
	for _, d := range prof.Measures.Demands() {
		list = append(list, Demand{d.Phase.String(), d.Demand, d.Seconds})
	}
	return list
}

// demands returns the plan's demands in the engine's form.
func (p *Plan) demands() []job.PhaseDemand {
	var list []job.PhaseDemand
	for _, kind := range []job.TaskKind{job.BagTask, job.MapTask, job.ReduceTask} {
		for _, phase := range kind.Phases() {
			i := slices.IndexFunc(p.Demands, func(d Demand) bool { return d.Phase == phase.String() })
			if i >= 0 {
				list = append(list, job.PhaseDemand{Phase: phase, Demand: p.Demands[i].Demand, Seconds: p.Demands[i].Seconds})
			}
		}
	}
	return list
}
