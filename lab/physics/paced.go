package physics

import (
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/step"
	"berth/internal/simulate/sim"
	"berth/lab/loads"
)

// Paces is the physics of bags whose tasks report their progress while they run (loads.Pace), on nodes of speed 1 with slow spells.
// It serves one simulation, after which it has what was seen.
type Paces struct {
	// Spells are the times at which each node is slow; nil means never. They count from the beginning of the workload.
	Spells []loads.Spells
	Jobs   []loads.Job

	Work float64 // of all attempts, in seconds
	// Duplicates counts the attempts that began while another attempt of their task ran, and Wasted
	// those of them that were killed because the other ended first.
	Duplicates, Wasted int
	Ends               predict.Ends // errors of the ends that were expected of these tasks

	w       *sim.World
	live    map[job.Attempt]int // running attempts of each task, with N 0
	running map[*sim.Attempt]*paced
	ended   predict.Collector
}

// Config adds the physics and its jobs to the configuration of a simulation.
func (p *Paces) Config(cfg sim.Config) sim.Config {
	cfg.Physics, cfg.Elastic = p, loads.Elastic(p.Jobs)
	return cfg
}

// Begin implements sim.Physics.
func (p *Paces) Begin(w *sim.World) {
	p.w, p.live, p.running = w, make(map[job.Attempt]int), make(map[*sim.Attempt]*paced)
}

// Describe implements sim.Physics.
func (p *Paces) Describe(index int, work *job.Work) {
	work.Duplicates, work.Curves = true, p.Jobs[index].Curves
}

// EndInstant implements sim.Physics.
func (p *Paces) EndInstant() {}

// Observe implements sim.Physics.
func (p *Paces) Observe(r event.Record) {
	if e, ok := r.(event.AttemptEnded); ok && e.Outcome == event.Done {
		p.ended.AddEnd(e.Expected)
		p.Ends = p.ended.Ends()
	}
}

// paced is the course of an attempt that reports its progress while it runs. Its speed follows the slow spells of its node.
type paced struct {
	*sim.Fixed
	p         *Paces
	begun     job.Time
	duplicate bool // another attempt of its task ran when it began
}

// As a real worker does, a worker reports every two seconds what it measured in the last second, at instants of its own.
const (
	reportEvery  = 2 * time.Second
	measureEvery = time.Second
)

// phase returns by how much the instants of a worker differ from those of others: some part of a period.
func phase(k *sim.Worker, period time.Duration) time.Duration {
	return time.Duration(uint64(k.Node+1) * 0x9e3779b97f4a7c15 % uint64(period))
}

// spells returns the slow spells of a worker's node.
func (p *Paces) spells(k *sim.Worker) loads.Spells {
	if p.Spells == nil {
		return nil
	}
	return p.Spells[k.Node]
}

// since converts an instant to one of spells.
func since(t job.Time) job.Time { return t - sim.Epoch }

// taskOf returns the task of an attempt.
func taskOf(r *sim.Attempt) job.Attempt { return job.Attempt{Job: r.ID.Job, Task: r.ID.Task} }

// Course implements sim.Physics. It sets the duration of an attempt that begins now and schedules the worker's reports.
func (p *Paces) Course(r *sim.Attempt, _ job.Phase, _ int64) sim.Course {
	k, now := r.Worker, p.w.Now()
	work := p.Jobs[r.Job()].Maps[r.ID.Task]
	a := &paced{p: p, begun: now, duplicate: p.live[taskOf(r)] > 0}
	a.Fixed = sim.NewFixed(r, p.spells(k).Until(since(now), work.Seconds()).Sub(since(now)))
	if p.live[taskOf(r)]++; a.duplicate {
		p.Duplicates++
	}
	p.running[r] = a
	if len(k.Runs) == 0 {
		p.w.At(now.Add(reportEvery-phase(k, reportEvery)), func() { p.report(k) })
	}
	return a
}

// work returns the work that the attempt had done at an instant, in seconds.
func (a *paced) work(at job.Time) float64 {
	return a.p.spells(a.Worker).Work(since(a.begun), since(at))
}

// Stop implements sim.Course.
func (a *paced) Stop(how event.Outcome) {
	a.p.live[taskOf(a.Attempt)]--
	a.p.Work += a.work(a.p.w.Now())
	if how == event.Killed && a.duplicate {
		a.p.Wasted++
	}
	delete(a.p.running, a.Attempt)
	a.Fixed.Stop(how)
}

// report is the periodic report of a worker about the progress of its attempts.
func (p *Paces) report(k *sim.Worker) {
	if len(k.Runs) == 0 {
		return
	}
	now := p.w.Now()
	p.w.At(now.Add(reportEvery), func() { p.report(k) })
	var of []job.Progress
	for _, r := range k.Runs {
		a, at := p.running[r], now.Add(-phase(k, measureEvery))
		if at <= a.begun {
			continue
		}
		e, work := &p.Jobs[r.Job()], a.work(at)
		share := min(work/e.Maps[r.ID.Task].Seconds(), 1)
		of = append(of, job.Progress{Attempt: r.ID, Source: job.ProgressHits, N: e.Paces[r.ID.Task].At(share), Fraction: -1,
			CPU: time.Duration(work * float64(time.Second)), Age: at.Sub(a.begun)})
	}
	k.Send(step.Progress{Node: k.ID, Of: of})
}
