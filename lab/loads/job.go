package loads

import (
	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// Job is an elastic job with what package physics knows of its tasks beside their durations.
type Job struct {
	workload.Elastic
	// Phased, if not nil, has the demand of each task phase by phase. The duration of a task then
	// depends on what else runs on its node, and the times of the job are those at full speed.
	Phased *Phased
	// Paces, if not nil, has the progress count of each task of a bag, so that stragglers can be
	// detected.
	Paces []Pace
	// Curves has the progress of attempts of an earlier run, as a profile keeps it. None: there was no earlier run.
	Curves []job.Curve
}

// Elastic returns the jobs without it.
func Elastic(jobs []Job) []workload.Elastic {
	all := make([]workload.Elastic, len(jobs))
	for i := range jobs {
		all[i] = jobs[i].Elastic
	}
	return all
}
