package loads

import (
	"math/rand/v2"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/internal/simulate/workload"
)

// PacedApp is an application whose tasks have a pace.
type PacedApp struct {
	Name   string
	Task   time.Duration // mean duration of a task
	Spread float64       // standard deviation of the durations, as a fraction of the mean
	Counts float64       // mean of the total count of a task
	Bends  []Bend
}

// PacedApps returns the two applications of the paper no2-outliers, section 7: Cap3, which assembles
// sequences, and GaussianBlur of ImageMagick. Both paces follow its figure 9: a few smooth parts, of
// which one part of the blur has nearly no counts.
func PacedApps() []PacedApp {
	return []PacedApp{
		{Name: "cap3", Task: 4 * time.Minute, Spread: 0.06, Counts: 40_000,
			Bends: bends(0, 0, 0.08, 0.3, 0.5, 0.42, 0.7, 0.85, 1, 1)},
		{Name: "blur", Task: 3 * time.Minute, Spread: 0.03, Counts: 2_500,
			Bends: bends(0, 0, 0.05, 0.45, 0.4, 0.55, 0.6, 0.553, 0.92, 0.7, 1, 1)},
	}
}

// Draw returns a job of equal tasks. Each task has its own duration, counts proportional to it, and
// slightly shifted bends.
func (a PacedApp) Draw(rng *rand.Rand, tasks int) Job {
	e := Job{Elastic: workload.Elastic{ID: 1, App: a.Name}}
	for range tasks {
		factor := max(1+a.Spread*rng.NormFloat64(), 0.5)
		e.Maps = append(e.Maps, duration(a.Task.Seconds()*factor))
		p := Pace{Counts: float64(int64(a.Counts * factor * (1 + 0.01*rng.NormFloat64())))}
		for i, b := range a.Bends {
			if i > 0 && i < len(a.Bends)-1 {
				b.Work = min(max(b.Work*(1+0.03*rng.NormFloat64()), p.Bends[i-1].Work+0.01), 0.99)
				b.Counts = min(max(b.Counts*(1+0.01*rng.NormFloat64()), p.Bends[i-1].Counts), 1)
			}
			p.Bends = append(p.Bends, b)
		}
		e.Paces = append(e.Paces, p)
	}
	return e
}

// Curves returns the progress of the tasks of a job that ran on healthy nodes of that speed, as a coordinator looks at them.
func Curves(e *Job, speed float64) (all []job.Curve) {
	for i, work := range e.Maps {
		took := work.Seconds() / speed
		t := straggler.Track{}
		for at := straggler.Interval; at.Seconds() < took; at += straggler.Interval {
			t.Add(at, job.Progress{Source: job.ProgressHits, N: e.Paces[i].At(at.Seconds() / took), Fraction: -1})
		}
		t.Add(duration(took), job.Progress{Source: job.ProgressHits, N: e.Paces[i].Counts, Fraction: -1})
		all = append(all, job.Curve{Kind: job.BagTask, Source: job.ProgressHits, Marks: t.Pack()})
	}
	return all
}

// bends returns the points whose coordinates are given, work before counts.
func bends(coordinates ...float64) (all []Bend) {
	for i := 0; i < len(coordinates); i += 2 {
		all = append(all, Bend{Work: coordinates[i], Counts: coordinates[i+1]})
	}
	return all
}
