package sim

import (
	"context"
	"fmt"
	"time"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/plan/rent"
	"berth/internal/sim/batch"
	"berth/internal/timeline"
)

// epoch is the virtual time at which a workload begins: to the engine an instant of 0 is
// none, so there must not be one.
const epoch = job.Time(time.Hour)

// unlimited stands for no limit where the batch system needs one.
const unlimited = 10 * 365 * 24 * time.Hour

// world is a simulated cluster in virtual time: its nodes, its batch system, and what is
// to happen.
type world struct {
	cfg     *Config
	ctx     context.Context
	now     job.Time
	agenda  agenda
	machine *machine
	hosts   []*host // where phases contend
	server  *host   // of data that rented machines move
	system  *batch.System
	allocs  []*allocation // by batch.ID
	parked  []*allocation // larger than what the cluster has while nodes are down, in the order of arrival
	changed bool          // something may start
	started []batch.ID    // room for those that do

	apps   []*app
	shared map[int64]*coordinator // by user
	result *Result
	left   int // jobs that are not over
	memo   plan.Memo
	err    error

	changedHosts []*host // on which something has changed in the instant under way

	watch   func(c *coordinator, r event.Record) // is shown all records, for tests; nil: nobody
	advised func(rent.Advice)                    // likewise, what is to be done with rented machines
}

func newWorld(ctx context.Context, cfg *Config) *world {
	w := &world{
		cfg: cfg, ctx: ctx, now: epoch, machine: newMachine(&cfg.Cluster), system: batch.New(cfg.Cluster.Nodes, cfg.Policy),
		shared: make(map[int64]*coordinator), left: len(cfg.Rigid) + len(cfg.Elastic),
		result: &Result{Rigid: make([]Outcome, len(cfg.Rigid)), Elastic: make([]Outcome, len(cfg.Elastic))},
	}
	w.hosts = newHosts(w, cfg.Cluster.Hardware)
	w.server = newServer(w, cfg.Cloud)
	w.apps = newApps(w)
	w.arrive()
	w.breakNodes()
	return w
}

// patience is how many events pass between looks at whether the simulation is cancelled.
const patience = 1 << 10

// run lets time pass until all jobs are over.
func (w *world) run() error {
	for n := 0; w.left > 0 && w.err == nil; n++ {
		if n%patience == 0 {
			w.fail(w.ctx.Err())
		}
		w.advance()
	}
	if w.err == nil {
		w.settle()
	}
	return w.err
}

// advance lets all happen that happens at the next instant, but for what follows from what
// then begins: that is an instant of its own, at the same time.
func (w *world) advance() {
	at := min(w.agenda.first(), w.system.Next())
	if at == timeline.Never {
		w.fail(w.stuck())
		return
	}
	w.now = max(w.now, at)
	for w.agenda.first() == w.now && w.err == nil {
		w.agenda.next().happen()
	}
	w.start()
	w.arm()
}

// fail ends the simulation with the first error.
func (w *world) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// stuck says that jobs wait for nothing.
func (w *world) stuck() error {
	what := fmt.Sprintf("%d jobs are not over and nothing is to happen", w.left)
	for _, a := range w.apps {
		if a.coordinator != nil && !a.over {
			what += fmt.Sprintf("; %s: %+v", a.id, a.coordinator.engine.Explain(w.now, a.id))
			break
		}
	}
	return &job.Error{Class: job.Fatal, Where: "simulation", What: what}
}

// start lets the batch system start what it can, and tells the owners.
func (w *world) start() {
	for w.err == nil && (w.changed || w.system.Next() <= w.now) {
		w.changed = false
		w.started = w.system.Start(w.now, w.started[:0])
		for _, id := range w.started {
			a := w.allocs[id]
			a.state, a.began = running, w.now
			w.machine.take(a)
		}
		for _, id := range w.started {
			if a := w.allocs[id]; a.state == running { // else the one before it led to its release
				a.owner.began(a)
			}
		}
	}
}

// settle completes the result: what is held yet, idle allocations, is held until the end.
func (w *world) settle() {
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
	w.usage()
}

// since returns a virtual time as results have it, from the beginning of the workload.
func since(t job.Time) job.Time { return t - epoch }
