package ui

import (
	"berth/internal/job"
	"berth/internal/report"
)

// stage is what has a bar: a bag as a whole, and of a MapReduce job what a person
// waits for: map (with its merge), shuffle, sort and reduce.
type stage struct {
	name                         string
	total, done, running, failed int
	progress                     float64 // 0…1
	rate                         string
	eta                          *float64
	waits                        bool // it is a shuffle that waits for maps, and ends with them
}

// stages returns a job's stages, none while its phases are not known.
func stages(v report.JobView) []stage {
	var out []stage
	for _, p := range v.Phases {
		s := stage{
			name: p.Phase, total: p.Total, done: p.Done, running: p.Running, failed: p.Failed,
			progress: p.Progress, rate: bytesRate(p.Rate), eta: p.EtaS,
		}
		switch p.Phase {
		case job.PhaseFetch.String(), job.PhaseStore.String():
			continue
		case job.PhaseCompute.String():
			s.name, s.done, s.running, s.rate = "tasks", v.TasksDone, v.TasksRunning, tasksRate(p.RateTasks)
		case job.PhaseShuffle.String():
			if maps := out[len(out)-1]; !maps.over() {
				s.waits, s.rate, s.eta = true, "", nil
			}
		case job.PhaseMerge.String():
			m := &out[len(out)-1] // the map before it is done when its merge is
			m.done = p.Done
			m.running += p.Running
			continue
		}
		out = append(out, s)
	}
	return out
}

// begun reports whether anything of the stage was started.
func (s stage) begun() bool { return s.running > 0 || s.done > 0 || s.failed > 0 || s.progress > 0 }

// over reports whether nothing of the stage is left to do.
func (s stage) over() bool { return s.done+s.failed >= s.total }

// under returns the stages that a person waits for now: of what is begun and not over
// no shuffle that only waits for maps, and of the phases of a reduce, which follow each
// other closely, only the last one that any reduce has come to. That one stands for all
// reduces that run, and once it is the last of the job it is over when the job is.
func under(v report.JobView) []stage {
	var out []stage
	all, before := stages(v), 0
	for i, s := range all {
		if !s.begun() || s.over() || s.waits {
			continue
		}
		last := i == len(all)-1
		if (s.name == job.PhaseShuffle.String() || s.name == job.PhaseSort.String()) && !last && all[i+1].begun() {
			before += s.running
			continue
		}
		s.running += before
		if last && s.eta == nil {
			s.eta = v.EtaS
		}
		out = append(out, s)
	}
	return out
}

// count is how far the stage is in tasks: "12/40".
func (s stage) count() string { return of(s.done, s.total) }

// load is what runs and what failed: "4 running, 1 failed".
func (s stage) load() string { return list(many(s.running, "running"), many(s.failed, "failed")) }

// expect is when the stage will be over: "ETA 12s", "done" if all of it is, or
// "ETA unknown" while it runs and nothing tells.
func (s stage) expect() string {
	switch {
	case s.over() && s.failed > 0:
		return ""
	case s.over():
		return "done"
	case s.eta != nil:
		return eta(*s.eta)
	case s.waits:
		return ""
	case s.running > 0:
		return "ETA unknown"
	default:
		return ""
	}
}
