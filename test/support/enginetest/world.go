package enginetest

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// World is an engine with workers, drivers and users.
type World struct {
	Engine  *engine.Engine
	Now     job.Time
	Journal []event.Entry
	Ledger  *Ledger
	// After is called after each step of the engine, for further checks.
	After func()
	// Given is called with each input before the engine receives it, and with nil when a new
	// coordinator takes over from the journal.
	Given func(in step.Input)
	// Planner answers requests for plans; nil: they are answered at random.
	Planner func(a step.Plan) job.Answer

	cfg    engine.Config
	choose func(n int) int // returns a number in 0…n−1
	fail   func(format string, args ...any)

	workers  []*worker            // in order of first joining
	disks    map[string]*disk     // folders of map outputs on the shared file system
	plans    []asked              // requests to answer
	clears   []job.AllocID        // allocations to clear
	mixed    map[job.ID]bool      // jobs for which a plan was answered that was requested before they ended
	cleared  map[job.AllocID]bool // by this coordinator
	allocs   []*alloc
	finalize []job.ID // jobs whose output is to be committed
	jobs     []job.Work
	calm     bool // nothing fails any more
	crash    bool // the coordinator dies in the next step
}

// alloc is the driver's state of an allocation.
type alloc struct {
	id    job.AllocID
	req   job.AllocRequest
	nodes int      // number of nodes that have begun
	begun bool     // of an elastic one: the batch system has started it
	ends  job.Time // then: end of its wall time; 0: never
	told  bool     // then: the coordinator knows of it
}

// New returns a world that is controlled by choose and reports errors to fail.
func New(cfg engine.Config, choose func(n int) int, fail func(format string, args ...any)) *World {
	ledger := NewLedger(fail)
	ledger.whole = cfg.Scheduler == sched.Cores
	w := &World{Ledger: ledger, choose: choose, fail: fail,
		disks: make(map[string]*disk), cleared: make(map[job.AllocID]bool), mixed: make(map[job.ID]bool)}
	cfg.Rule, cfg.Limits = w, limits
	w.cfg, w.Engine = cfg, engine.New(cfg)
	return w
}

// Work returns a job as it is now, with the tasks that were added to it.
func (w *World) Work(id job.ID) job.Work { return w.Ledger.works[id] }

// Config returns the configuration of the engine.
func (w *World) Config() engine.Config { return w.cfg }

// chance returns true in one of n cases, and never if calm.
func (w *World) chance(n int) bool { return !w.calm && w.choose(n) == 0 }

// step gives an input to the engine. It reports whether the output was carried
// out, which is false if the coordinator dies.
func (w *World) step(in step.Input) bool {
	w.callGiven(in)
	out, err := w.Engine.Step(w.Now, in)
	if err != nil && len(out.Records) > 0 {
		w.checkRefusal(in, err)
	}
	return w.carryOut(out)
}

func (w *World) callGiven(in step.Input) {
	if w.Given != nil {
		w.Given(in)
	}
}

// checkRefusal checks that a refused input is one that may be refused.
func (w *World) checkRefusal(in step.Input, err error) {
	switch in.(type) {
	case step.Submit, step.Cancel, step.Resume, step.Add, step.Close, step.NodeUp:
	default:
		w.fail("%T refused: %v", in, err)
	}
}

// carryOut writes the records and then carries out the actions.
func (w *World) carryOut(out engine.Output) bool {
	if w.crash {
		w.crash = false
		w.die(out.Records)
		return false
	}
	w.write(out.Records)
	for _, a := range out.Actions {
		step.Perform(a, performer{w})
	}
	if w.After != nil {
		w.After()
	}
	return true
}

func (w *World) write(records []event.Record) {
	for _, r := range records {
		e := event.Entry{Seq: uint64(len(w.Journal) + 1), At: w.Now, Record: r}
		w.Journal = append(w.Journal, e)
		w.Ledger.Apply(e)
		if r, ok := r.(event.JobEnded); ok {
			for i := range w.plans {
				w.plans[i].stale = w.plans[i].stale || w.plans[i].Job == r.Job
			}
		}
	}
}

// die ends the coordinator while it writes: a part of the records of each journal is
// written, and no action is carried out. The next coordinator takes over.
func (w *World) die(records []event.Record) {
	var jobs []job.ID
	for _, r := range records {
		if !slices.Contains(jobs, r.Of()) {
			jobs = append(jobs, r.Of())
		}
	}
	left := make(map[job.ID]int)
	for _, id := range jobs {
		left[id] = w.choose(len(records) + 1)
	}
	var kept []event.Record
	for _, r := range records {
		if left[r.Of()]--; left[r.Of()] >= 0 {
			kept = append(kept, r)
		}
	}
	w.Ledger.torn = true // a release may be missing in the journal although later records are there
	w.write(kept)
	w.Ledger.torn = false
	w.Restart()
}

// Restart lets a new coordinator take over from the journal.
func (w *World) Restart() {
	w.callGiven(nil)
	w.Engine = w.Replayed()
	w.finalize, w.plans, w.clears = nil, nil, nil
	clear(w.cleared)
	for _, a := range w.allocs {
		a.told = false
	}
	for _, k := range w.workers {
		k.lose()
		k.notices = nil
	}
	live := w.Engine.Allocs()
	w.adopt(live)
	w.carryOut(w.Engine.Recover(w.Now))
}

// Replayed returns an engine that has replayed the journal.
func (w *World) Replayed() *engine.Engine {
	e := engine.New(w.cfg)
	for _, ent := range w.Journal {
		e.Replay(ent)
	}
	return e
}

// adopt lets the driver adopt the allocations that the engine knows; those
// that it never received are requested.
func (w *World) adopt(live []job.Live) {
	for _, a := range live {
		if !slices.ContainsFunc(w.allocs, func(b *alloc) bool { return a.ID == b.id }) {
			w.request(a.ID, a.Request)
		}
	}
}

func (w *World) request(id job.AllocID, req job.AllocRequest) {
	w.allocs = append(w.allocs, &alloc{id: id, req: req})
}

// tell sends a message to a worker, if it is connected.
func (w *World) tell(node job.NodeID, f func(*worker)) {
	if k := w.worker(node); k != nil && k.connected && k.alive {
		k.in = append(k.in, func() { f(k) })
	}
}

// checkDone checks that all output of a job was committed before it is finalized.
func (w *World) checkDone(id job.ID) {
	work := w.Ledger.works[id]
	for i := range work.Total() {
		if work.Reduces > 0 && i < work.Tasks {
			continue
		}
		if w.Ledger.Commits(id, i) == 0 {
			w.fail("%s is finalized, but task %d never committed", id, i)
		}
	}
}

// release ends an allocation and its workers.
func (w *World) release(id job.AllocID) {
	w.allocs = slices.DeleteFunc(w.allocs, func(a *alloc) bool { return a.id == id })
	w.workers = slices.DeleteFunc(w.workers, func(k *worker) bool { return k.alloc == id })
}

func (w *World) alloc(id job.AllocID) *alloc {
	for _, a := range w.allocs {
		if a.id == id {
			return a
		}
	}
	return nil
}

func (w *World) worker(id job.NodeID) *worker {
	for _, k := range w.workers {
		if k.id == id {
			return k
		}
	}
	return nil
}

func (w *World) work(id job.ID) job.Work {
	for _, work := range w.jobs {
		if work.ID == id {
			return work
		}
	}
	w.fail("job %s was never submitted", id)
	return job.Work{}
}

// pass lets time pass.
func (w *World) pass(d time.Duration) {
	w.Now = w.Now.Add(d)
	late := w.choose(2) == 0
	if late {
		w.step(step.Tick{})
	}
	w.timeLimits()
	if !late {
		w.step(step.Tick{})
	}
}

// unfinished returns the jobs that are not over.
func (w *World) unfinished() []step.JobStatus {
	return slices.DeleteFunc(w.Engine.Jobs(), func(j step.JobStatus) bool { return j.State.Final() })
}

// describe lists the states of all jobs, for a failure.
func (w *World) describe() string {
	s := ""
	for _, j := range w.Engine.Jobs() {
		s += fmt.Sprintf("%s %s %+v %+v: %+v\n", j.ID, j.State, j.Tasks, j.Reduces, w.Engine.Explain(w.Now, j.ID))
	}
	return s
}
