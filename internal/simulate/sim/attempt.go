package sim

import (
	"math"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// attempt is an attempt that runs on a worker. Only the end of its present step is on the agenda.
type attempt struct {
	k       *worker
	app     *app
	id      job.Attempt
	kind    job.TaskKind
	since   job.Time // when the present step began
	step    stage
	over    bool
	fails   bool // the attempt fails after half of its computing time
	stats   []job.PhaseStat
	runTime time.Duration // computing time on this node
	located bool          // the shuffle knows the nodes of all map outputs
	phased  *phased       // state of an attempt whose phases contend for the node; nil: the phases have fixed durations
	paced   *paced        // state of an attempt that reports its progress; nil: it does not report any
	commit  bool          // the attempt may commit without asking
	moves   *transfer     // transfer of its data from and to a data server, if there is one
	from    job.Time      // when the attempt began
}

// stage is the present step of an attempt.
type stage uint8

const (
	shuffling stage = iota // a reduce fetches map outputs
	asking                 // it waits for the grant to sort
	computing
	committing
)

// start begins an attempt. The speed of the node at this instant applies to the whole attempt.
func (k *worker) start(a *app, s step.Start) {
	r := &attempt{k: k, app: a, id: s.Attempt, kind: a.kind(s.Attempt.Task), since: k.g.site.w.now, from: k.g.site.w.now, commit: s.Commit}
	w := k.g.site.w
	if r.runTime = a.duration(s.Attempt.Task); k.rentedMachine != nil {
		r.runTime = k.rentedMachine.onType(r.runTime)
	} else {
		r.runTime = w.onNode(r.runTime, k.node)
	}
	r.fails = w.attemptFails(s.Attempt, a.index)
	if a.Phased != nil {
		k.startPhased(r, s.Through, s.Memory)
		return
	}
	if a.Paces != nil {
		k.pace(r, a.duration(s.Attempt.Task))
	}
	k.runs = append(k.runs, r)
	k.enter(r, r.kind.Phases()[0])
	switch {
	case k.rentedMachine != nil && w.cfg.Cloud.Bytes > 0:
		r.move()
	case r.kind != job.ReduceTask:
		r.compute()
	case k.outputsOf(a).count == len(a.Maps):
		r.fetch()
	}
}

// duration returns the computing time of a task on a core of speed 1.
func (a *app) duration(task int) time.Duration {
	if task < len(a.Maps) {
		return a.Maps[task]
	}
	return a.Reduces[task-len(a.Maps)]
}

// onNode returns how long work of duration d takes on the node if it begins now.
func (w *world) onNode(d time.Duration, node int) time.Duration {
	factor := 1 / w.machine.speed(node)
	if w.machine.state[node].slow {
		factor *= w.cfg.Faults.SlowBy
	}
	if factor == 1 {
		return d
	}
	return roundMilli(float64(d) * factor)
}

// roundMilli rounds nanoseconds to a whole millisecond, the resolution of all durations that are
// drawn.
func roundMilli(ns float64) time.Duration {
	return time.Duration(math.Round(ns/float64(time.Millisecond))) * time.Millisecond
}

func (k *worker) enter(r *attempt, p job.Phase) {
	k.send(step.PhaseEntered{Attempt: r.id, Phase: p})
}

// next begins step s and schedules its end.
func (r *attempt) next(s stage, after time.Duration) {
	w := r.k.g.site.w
	r.step, r.since = s, w.now
	w.agenda.schedule(w.now.Add(after), endRank, r)
}

// fetch schedules the end of a shuffle for which all map outputs are ready. A shuffle that began
// before the last map output was ready has fetched the other outputs already (Sh1 of ARIA,
// models.md, "What is measured").
func (r *attempt) fetch() {
	if r.kind != job.ReduceTask || r.step != shuffling || r.located {
		return
	}
	r.located = true
	rest, i := r.app.FirstShuffle, r.id.Task-len(r.app.Maps)
	begun := r.since
	if begun == r.k.g.site.w.now {
		rest = r.app.Shuffle
	}
	d := time.Duration(0)
	if rest != nil {
		d = rest[i]
	}
	r.next(shuffling, d)
	r.since = begun
}

// compute starts the part of the attempt that needs a core.
func (r *attempt) compute() {
	d := r.runTime
	if r.fails {
		d = roundMilli(float64(d) / 2)
	}
	phases := r.kind.Phases()
	if r.kind != job.MapTask { // fetching and sorting have no duration of their own
		r.k.enter(r, phases[1])
	}
	if r.kind == job.ReduceTask {
		r.k.enter(r, phases[2])
	}
	r.next(computing, d)
}

// fire ends the present step.
func (r *attempt) fire() {
	if r.over {
		return
	}
	now := r.k.g.site.w.now
	switch r.step {
	case shuffling:
		r.stat(job.PhaseShuffle, r.since, now)
		r.step = asking
		r.k.send(step.GrantWanted{Attempt: r.id, Phase: job.PhaseSort})
	case computing:
		r.computed(now)
	}
}

// computed ends an attempt whose computing is done, or asks for the permission to commit.
func (r *attempt) computed(now job.Time) {
	if r.fails {
		r.k.end(r, event.AttemptEnded{Outcome: event.Failed, Exit: 1, Reason: "exit status 1"})
		return
	}
	switch r.kind {
	case job.BagTask:
		r.stat(job.PhaseFetch, r.from, r.since)
		r.stat(job.PhaseCompute, r.since, now)
		r.stat(job.PhaseStore, now, now)
		r.k.enter(r, job.PhaseStore)
		if !r.commit {
			r.step = committing
			r.k.send(step.CommitWanted{Attempt: r.id})
			return
		}
	case job.MapTask:
		r.stat(job.PhaseMap, r.since, now)
		r.stat(job.PhaseMerge, now, now)
		r.k.enter(r, job.PhaseMerge)
	default:
		r.stat(job.PhaseSort, r.since, r.since)
		r.stat(job.PhaseReduce, r.since, now)
		r.step = committing
		r.k.send(step.CommitWanted{Attempt: r.id})
		return
	}
	r.k.end(r, event.AttemptEnded{Outcome: event.Done})
}

func (r *attempt) stat(p job.Phase, start, end job.Time) {
	if r.stats == nil {
		r.stats = make([]job.PhaseStat, 0, 3)
	}
	r.stats = append(r.stats, job.PhaseStat{Phase: p, Start: start, End: end, CPU: end.Sub(start)})
}
