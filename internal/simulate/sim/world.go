package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/plan/rent"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
	"berth/internal/simulate/batch"
)

// Epoch is the virtual time at which a workload begins. It is not 0, because the instant 0 means
// "none" to the engine.
const Epoch = job.Time(time.Hour)

// unlimited is the wall time that stands for no limit, because the batch system requires one.
const unlimited = 10 * 365 * 24 * time.Hour

// World is the state of a simulation: the virtual time, the nodes, the batch system, the jobs and
// the agenda.
type World struct {
	cfg     *Config
	ctx     context.Context
	now     job.Time
	agenda  agenda
	machine *machine
	server  *server       // the data server of rented machines, or nil
	queues  []*queue      // the partitions, the default one first
	allocs  []*allocation // by batch.ID
	parked  []*allocation // allocations that are larger than the cluster while nodes are down, in the order of arrival
	changed bool          // the batch system may be able to start a job
	started []batch.ID    // buffer for the allocations that start

	apps   []*app
	shared map[int64]*coordinator // by user
	result *Result
	left   int // number of jobs that have not ended
	memo   plan.Memo
	// history is how long jobs have run; empty unless plans use it.
	history starts.History
	err     error
	anew    int // plans that were requested because the one before left tasks that nothing serves

	watch   func(c *coordinator, r event.Record) // receives all records, for tests; may be nil
	advised func(rent.Advice)                    // receives all advice about rented machines, for tests; may be nil
}

func newWorld(ctx context.Context, cfg *Config) *World {
	w := &World{
		cfg: cfg, ctx: ctx, now: Epoch, machine: newMachine(&cfg.Cluster), queues: newQueues(cfg),
		shared: make(map[int64]*coordinator), left: len(cfg.Rigid) + len(cfg.Elastic),
		result: &Result{Rigid: make([]Outcome, len(cfg.Rigid)), Elastic: make([]Outcome, len(cfg.Elastic))},
	}
	w.history.Ended = slices.Clone(cfg.Past)
	w.server = newServer(w, cfg.Cloud)
	w.apps = newApps(w)
	if cfg.Physics != nil {
		cfg.Physics.Begin(w)
	}
	w.scheduleArrivals()
	w.breakNodes()
	w.takeNodes()
	return w
}

// cancelCheck is the number of instants between two checks whether ctx is cancelled.
const cancelCheck = 1 << 10

// run advances the virtual time until all jobs have ended.
func (w *World) run() error {
	for n := 0; w.left > 0 && w.err == nil; n++ {
		if n%cancelCheck == 0 {
			w.fail(w.ctx.Err())
		}
		w.advance()
	}
	if w.err == nil {
		w.finish()
	}
	return w.err
}

// advance fires all events of the next instant and starts the allocations that can begin. Events
// that follow from these starts fire in the next call, at the same virtual time.
func (w *World) advance() {
	at := min(w.agenda.first(), w.nextStart())
	if at == timeline.Never {
		w.fail(w.stuck())
		return
	}
	w.now = max(w.now, at)
	for w.agenda.first() == w.now && w.err == nil {
		w.agenda.next()()
	}
	w.start()
	w.server.share()
	if w.cfg.Physics != nil {
		w.cfg.Physics.EndInstant()
	}
}

// fail stores the first error, which ends the simulation.
func (w *World) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// stuck returns the error for a simulation in which jobs remain but no event is scheduled.
func (w *World) stuck() error {
	what := fmt.Sprintf("%d jobs have not ended, but no event is scheduled", w.left)
	for _, a := range w.apps {
		if a.coordinator != nil && !a.over {
			what += fmt.Sprintf("; %s: %+v", a.id, a.coordinator.engine.Explain(w.now, a.id))
			break
		}
	}
	return job.FatalError("simulation", what, nil)
}

// start starts the allocations that the batch system can start now, and notifies their owners.
func (w *World) start() {
	for w.err == nil && (w.changed || w.nextStart() <= w.now) {
		w.changed = false
		w.started = w.started[:0]
		for _, q := range w.queues {
			w.started = q.Start(w.now, w.started)
		}
		for _, id := range w.started {
			a := w.allocs[id]
			a.state, a.began = running, w.now
			w.machine.assign(a)
		}
		for _, id := range w.started {
			if a := w.allocs[id]; a.state == running { // an earlier owner may have released this one
				a.owner.began()
			}
		}
	}
}

// finish completes the result. Idle allocations that remain count as allocated until the end.
func (w *World) finish() {
	for _, a := range w.allocs {
		if a.state == running {
			w.account(a)
		}
	}
	r := w.result
	r.Begin = timeline.Never
	for _, outs := range [][]Outcome{r.Rigid, r.Elastic} {
		for i := range outs {
			o := &outs[i]
			r.Begin, r.End = min(r.Begin, o.Submit), max(r.End, o.Finish)
		}
	}
	if r.Begin == timeline.Never {
		r.Begin = 0
	}
}

// Now returns the present instant. A workload begins at Epoch.
func (w *World) Now() job.Time { return w.now }

// At calls f at an instant, with the ends of tasks.
func (w *World) At(at job.Time, f func()) { w.agenda.schedule(at, endRank, f) }

// since converts a virtual time to the time of results, which begins with the workload.
func since(t job.Time) job.Time { return t - Epoch }
