package ui

import (
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// stage is a part of a job with a bar: a bag as a whole, and of a MapReduce job map (with its merge), shuffle, sort
// and reduce.
type stage struct {
	report.PhaseView
	rate  string
	waits bool // it is a shuffle that waits for maps, and ends with them
}

// stages returns a job's stages, none while its phases are unknown.
func stages(v report.JobView) []stage {
	var out []stage
	for _, p := range v.Phases {
		s := stage{PhaseView: p, rate: bytesRate(p.Rate)}
		switch p.Phase {
		case job.PhaseFetch.String(), job.PhaseStore.String():
			continue
		case job.PhaseCompute.String():
			s.Phase, s.Done, s.Running, s.rate = "tasks", v.TasksDone, v.TasksRunning, tasksRate(p.RateTasks)
		case job.PhaseShuffle.String():
			if maps := out[len(out)-1]; !maps.over() {
				s.waits, s.rate, s.EtaS = true, "", nil
			}
		case job.PhaseMerge.String():
			m := &out[len(out)-1] // a map is done when its merge is
			m.Done = p.Done
			m.Running += p.Running
			continue
		}
		out = append(out, s)
	}
	return out
}

// begun reports whether any task of the stage was started.
func (s stage) begun() bool { return s.Running > 0 || s.Done > 0 || s.Failed > 0 || s.Progress > 0 }

// over reports whether no task of the stage is left.
func (s stage) over() bool { return s.Done+s.Failed >= s.Total }

// under returns the stages that the user waits for now: those that have begun and are not over, without a shuffle
// that waits for maps. The phases of a reduce follow each other closely, so only the last one that any reduce has
// reached is returned; it stands for all running reduces, and the last phase ends with the job.
func under(v report.JobView) []stage {
	var out []stage
	all, before := stages(v), 0
	for i, s := range all {
		if !s.begun() || s.over() || s.waits {
			continue
		}
		last := i == len(all)-1
		if (s.Phase == job.PhaseShuffle.String() || s.Phase == job.PhaseSort.String()) && !last && all[i+1].begun() {
			before += s.Running
			continue
		}
		s.Running += before
		if last && s.EtaS == nil {
			s.EtaS = v.EtaS
		}
		out = append(out, s)
	}
	return out
}

// count returns the progress of the stage in tasks: "12/40".
func (s stage) count() string { return of(s.Done, s.Total) }

// load returns the numbers of running and failed tasks: "4 running, 1 failed".
func (s stage) load() string { return list(many(s.Running, "running"), many(s.Failed, "failed")) }

// expect returns the remaining time of the stage: "ETA 12s", "done", or "ETA unknown".
func (s stage) expect() string {
	switch {
	case s.over() && s.Failed > 0:
		return ""
	case s.over():
		return "done"
	case s.EtaS != nil:
		return eta(*s.EtaS)
	case s.waits:
		return ""
	case s.Running > 0:
		return "ETA unknown"
	default:
		return ""
	}
}
