package sim

import (
	"math"
	"time"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/step"
)

// attempt is an attempt that runs on a worker: a step at a time is on the agenda.
type attempt struct {
	k      *worker
	app    *app
	id     job.Attempt
	kind   job.TaskKind
	since  job.Time // when the present step began
	step   stage
	over   bool
	fails  bool // half way through what it computes
	stats  []job.PhaseStat
	takes  time.Duration // what it computes, on this node
	placed bool          // its shuffle knows where all outputs are
	phased *phased       // how it runs where phases contend; nil: its times are given
	paced  *paced        // how it runs where it is seen how far it is; nil: nobody looks
	commit bool          // it has the grant from the start
	moves  *transfer     // of its data, where they lie on a data server
	from   job.Time      // when it began
}

// stage is how far an attempt is.
type stage uint8

const (
	shuffling stage = iota // a reduce fetches map outputs
	asking                 // it waits for leave to sort
	computing
	committing
)

// start begins an attempt. How fast its node is while it lasts is decided now.
func (k *worker) start(a *app, s step.Start) {
	r := &attempt{k: k, app: a, id: s.Attempt, kind: a.kind(s.Attempt.Task), since: k.g.site.w.now, from: k.g.site.w.now, commit: s.Commit}
	w := k.g.site.w
	if r.takes = a.duration(s.Attempt.Task); k.hired != nil {
		r.takes = k.hired.takes(r.takes)
	} else {
		r.takes = w.onNode(r.takes, k.node)
	}
	r.fails = w.unlucky(s.Attempt, a.index)
	if a.Phased != nil {
		k.startPhased(r, s.Leave, s.Memory)
		return
	}
	if a.Paces != nil {
		k.pace(r, a.duration(s.Attempt.Task))
	}
	k.runs = append(k.runs, r)
	k.enter(r, r.kind.Phases()[0])
	switch {
	case k.hired != nil && w.cfg.Cloud.Bytes > 0:
		r.move()
	case r.kind != job.ReduceTask:
		r.compute()
	case k.of(a).count == len(a.Maps):
		r.fetch()
	}
}

// duration returns what a task computes, on a core of speed 1.
func (a *app) duration(task int) time.Duration {
	if task < len(a.Maps) {
		return a.Maps[task]
	}
	return a.Reduces[task-len(a.Maps)]
}

// onNode returns how long so much work takes if it begins now on a node.
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

// roundMilli rounds nanoseconds to a whole millisecond, as all that is drawn is.
func roundMilli(ns float64) time.Duration {
	return time.Duration(math.Round(ns/float64(time.Millisecond))) * time.Millisecond
}

func (k *worker) enter(r *attempt, p job.Phase) {
	k.say(step.PhaseEntered{Attempt: r.id, Phase: p})
}

// next notes when the present step is done.
func (r *attempt) next(s stage, after time.Duration) {
	w := r.k.g.site.w
	r.step, r.since = s, w.now
	w.agenda.note(w.now.Add(after), endRank, r)
}

// fetch ends a shuffle that knows where all map outputs are. One that began before the last
// of them was there has fetched the others meanwhile (Sh1 of ARIA, models.md, section 1).
func (r *attempt) fetch() {
	if r.kind != job.ReduceTask || r.step != shuffling || r.placed {
		return
	}
	r.placed = true
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

// compute runs what takes a core.
func (r *attempt) compute() {
	d := r.takes
	if r.fails {
		d = roundMilli(float64(d) / 2)
	}
	phases := r.kind.Phases()
	if r.kind != job.MapTask { // fetch and sort take no time of their own
		r.k.enter(r, phases[1])
	}
	if r.kind == job.ReduceTask {
		r.k.enter(r, phases[2])
	}
	r.next(computing, d)
}

// happen ends the present step.
func (r *attempt) happen() {
	if r.over {
		return
	}
	now := r.k.g.site.w.now
	switch r.step {
	case shuffling:
		r.stat(job.PhaseShuffle, r.since, now)
		r.step = asking
		r.k.say(step.LeaveWanted{Attempt: r.id, Phase: job.PhaseSort})
	case computing:
		r.computed(now)
	}
}

// computed ends an attempt whose work is done, but for the leave to commit.
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
			r.k.say(step.CommitWanted{Attempt: r.id})
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
		r.k.say(step.CommitWanted{Attempt: r.id})
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
