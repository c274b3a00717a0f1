package sim

import (
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Fixed is the course of an attempt whose phases have the durations of its job (workload.Elastic). Only the end of its
// present step is on the agenda.
type Fixed struct {
	*Attempt
	took    time.Duration // computing time on this node
	from    job.Time      // when the attempt began
	since   job.Time      // when the present step began
	step    stage
	located bool      // the shuffle knows the nodes of all map outputs
	moves   *transfer // transfer of its data from and to a data server, if there is one
}

// stage is the present step of an attempt.
type stage uint8

const (
	shuffling stage = iota // a reduce fetches map outputs
	asking                 // it waits for the grant to sort
	computing
)

// NewFixed returns the course of an attempt that computes for so long.
func NewFixed(r *Attempt, took time.Duration) *Fixed {
	now := r.Worker.World().now
	return &Fixed{Attempt: r, took: took, from: now, since: now}
}

// Start implements Course. The speed of the node at this instant applies to the whole attempt.
func (f *Fixed) Start() {
	f.Enter(f.Kind.Phases()[0])
	switch k := f.Worker; {
	case k.rentedMachine != nil && k.World().cfg.Cloud.Bytes > 0:
		f.move()
	case f.Kind != job.ReduceTask:
		f.compute()
	default:
		f.Located()
	}
}

// next begins step s and schedules its end.
func (f *Fixed) next(s stage, after time.Duration) {
	w := f.Worker.World()
	f.step, f.since = s, w.now
	w.agenda.schedule(w.now.Add(after), endRank, f.fire)
}

// Located implements Course. It schedules the end of a shuffle for which all map outputs are ready. A shuffle that began
// before the last map output was ready has fetched the other outputs already (Sh1 of ARIA,
// models.md, "What is measured").
func (f *Fixed) Located() {
	if f.Kind != job.ReduceTask || f.step != shuffling || f.located || f.Worker.outputsOf(f.app).count < len(f.app.Maps) {
		return
	}
	f.located = true
	rest, i := f.app.FirstShuffle, f.ID.Task-len(f.app.Maps)
	begun := f.since
	if begun == f.Worker.World().now {
		rest = f.app.Shuffle
	}
	d := time.Duration(0)
	if rest != nil {
		d = rest[i]
	}
	f.next(shuffling, d)
	f.since = begun
}

// Grant implements Course.
func (f *Fixed) Grant(job.Phase, int64) {
	if f.step == asking {
		f.compute()
	}
}

// compute starts the part of the attempt that needs a core.
func (f *Fixed) compute() {
	d := f.took
	if f.Fails {
		d = roundMilli(float64(d) / 2)
	}
	phases := f.Kind.Phases()
	if f.Kind != job.MapTask { // fetching and sorting have no duration of their own
		f.Enter(phases[1])
	}
	if f.Kind == job.ReduceTask {
		f.Enter(phases[2])
	}
	f.next(computing, d)
}

// fire ends the present step.
func (f *Fixed) fire() {
	now := f.Worker.World().now
	switch {
	case f.over:
	case f.step == shuffling:
		f.stat(job.PhaseShuffle, f.since, now)
		f.step = asking
		f.Want(job.PhaseSort)
	case f.Fails:
		f.Fail()
	default:
		f.computed(now)
	}
}

// computed ends an attempt whose computing is done.
func (f *Fixed) computed(now job.Time) {
	switch f.Kind {
	case job.BagTask:
		f.stat(job.PhaseFetch, f.from, f.since)
		f.stat(job.PhaseCompute, f.since, now)
		f.stat(job.PhaseStore, now, now)
		f.Enter(job.PhaseStore)
	case job.MapTask:
		f.stat(job.PhaseMap, f.since, now)
		f.stat(job.PhaseMerge, now, now)
		f.Enter(job.PhaseMerge)
	default:
		f.stat(job.PhaseSort, f.since, f.since)
		f.stat(job.PhaseReduce, f.since, now)
	}
	f.Done()
}

func (f *Fixed) stat(p job.Phase, start, end job.Time) {
	f.Measured(job.PhaseStat{Phase: p, Start: start, End: end, CPU: end.Sub(start)})
}

// Stop implements Course. What the attempt has computed is lost unless it is done.
func (f *Fixed) Stop(how event.Outcome) {
	if how != event.Done && f.step == computing {
		f.app.out.LostWork += float64(f.app.cores(f.ID.Task)) * min(f.Worker.World().now.Sub(f.since), f.took).Seconds()
	}
	f.moves.stop()
}
