package engine

import (
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// Engine is the state of all jobs, tasks, nodes and allocations, with the decisions over
// them. Its methods must not be called concurrently.
type Engine struct {
	cfg    Config
	scarce *sched.Scarce // what all pools share
	now    job.Time      // of the present step

	jobs      map[job.ID]*jobState
	line      []*jobState // all jobs, in order of submission
	orders    uint64      // number of submissions and resumes so far
	sharing   []*jobState // those that are not over and may write files of the same names (claims.go)
	claims    uint64      // number of claims so far
	pools     []*pool     // pools in use, oldest first
	nodes     map[job.NodeID]*node
	nodeList  []*node // by index; 0 is none
	allocs    map[job.AllocID]*alloc
	allocList []*alloc // allocations that are not over, oldest first
	lastAlloc int      // highest number of an allocation
	over      []*alloc // allocations of batch systems that have ended and are not cleared, oldest first

	out Output // of the last step or the present one

	// The following fields hold the open work of a step, and are empty between steps.

	dirtyJobs   []*jobState
	dirtyPools  []*pool
	dirtyAllocs bool
	dirtyOver   bool

	round uint64 // of the search for jobs without an allocation of their own

	deadline job.Time // time of the next timeout; 0: none
	stale    bool     // deadline must be computed again
	expired  job.Time // ends of suspicions up to this time were handled

	blocked []*attempt // those that asked to commit files which a job that claimed them earlier may be putting into place

	assessAt  job.Time // time of the next assessment of running attempts; 0: none is watched
	recovered job.Time // when this coordinator took over; 0: it is the first
}

// Output is the result of a step. The caller makes the records durable, in their order and
// with the step's time, before it carries out the actions, in their order. An Output is valid until the next step, which
// reuses its memory.
type Output struct {
	Records []event.Record
	Actions []step.Action
}

// New returns an engine without jobs or allocations.
func New(cfg Config) *Engine {
	scarce := sched.NewScarce()
	scarce.SetLimits(cfg.Limits)
	return &Engine{
		cfg:      cfg.withDefaults(),
		scarce:   scarce,
		jobs:     make(map[job.ID]*jobState),
		nodes:    make(map[job.NodeID]*node),
		nodeList: make([]*node, 1),
		allocs:   make(map[job.AllocID]*alloc),
	}
}

// Step handles an input at a time and returns its records and actions.
//
// The error is a *job.Error: for Submit, Cancel and Resume that are not possible in the present state, for NodeUp of a
// node that belongs to no live allocation, and for FromWorker about an attempt of another node. The caller carries out
// the output all the same, as time has passed. Late messages of workers and drivers about things that are over are no
// error and change nothing.
func (e *Engine) Step(now job.Time, in step.Input) (Output, error) {
	e.begin(now)
	err := e.handle(in)
	e.advance()
	return e.out, err
}

// Replay applies a record of an earlier coordinator. Records are given in
// the order of their sequence numbers; those of a job that had ended may be given
// later, before the job is resumed. After the last one the caller calls Recover.
func (e *Engine) Replay(ent event.Entry) { e.apply(ent.At, ent.Record) }

// Recover completes the replayed state after the death of the coordinator that wrote it:
// nodes must join again, and interrupted changes are completed. The caller also asks drivers
// to adopt Allocs.
func (e *Engine) Recover(now job.Time) Output {
	e.begin(now)
	e.recover()
	e.advance()
	return e.out
}

func (e *Engine) begin(now job.Time) {
	e.NextTimeout() // computed before the input changes the state
	e.now = now
	e.out = Output{Records: e.out.Records[:0], Actions: e.out.Actions[:0]}
}

// emit makes a record and applies it.
func (e *Engine) emit(r event.Record) {
	e.apply(e.now, r)
	e.out.Records = append(e.out.Records, r)
}

func (e *Engine) do(a step.Action) { e.out.Actions = append(e.out.Actions, a) }

// handle turns an input into records and actions.
func (e *Engine) handle(in step.Input) error {
	switch in := in.(type) {
	case step.Submit:
		return e.submit(in.Work)
	case step.Cancel:
		return e.cancel(in)
	case step.Resume:
		return e.resume(in)
	case step.SetLimits:
		return e.setLimits(in)
	case step.Set:
		return e.setTerms(in)
	case step.Add:
		return e.addTasks(in)
	case step.Close:
		return e.closeBag(in)
	case step.Finalized:
		e.finalized(in)
	case step.NodeUp:
		return e.nodeUp(in)
	case step.FromWorker:
		return e.fromWorker(in)
	case step.NodeDown:
		e.nodeDown(in)
	case step.PhaseEntered:
		e.phaseEntered(in)
	case step.Progress:
		e.progress(in)
	case step.GrantWanted:
		e.grantWanted(in)
	case step.CommitWanted:
		e.commitWanted(in)
	case step.Asks:
		e.attemptAsks(in)
	case step.AttemptEnded:
		e.attemptEnded(in.AttemptEnded)
	case step.FetchFailed:
		e.fetchFailed(in)
	case step.AllocDown:
		e.allocDown(in)
	case step.AllocUp:
		e.allocUp(in)
	case step.AllocNote:
		e.allocNote(in)
	case step.Planned:
		e.planned(in)
	case step.Found:
		e.jobFound(in)
	case step.Cleared:
		e.cleared(in)
	case step.Tick:
	default:
		panic(fmt.Sprintf("engine: unknown input %T", in))
	}
	return nil
}

// advance emits the consequences of the input until there are no more.
func (e *Engine) advance() {
	e.fireTimeouts()
	e.updateDirty()
	if e.assessAt != 0 && e.now >= e.assessAt {
		e.assess()
		e.updateDirty()
	}
}

// updateDirty updates the jobs, allocations and pools that have changed.
func (e *Engine) updateDirty() {
	for len(e.dirtyJobs) > 0 || len(e.dirtyPools) > 0 || e.dirtyAllocs {
		for i := 0; i < len(e.dirtyJobs); i++ { // the loop may add more
			e.dirtyJobs[i].dirty = false
			e.updateJob(e.dirtyJobs[i])
		}
		e.dirtyJobs = e.dirtyJobs[:0]
		if e.dirtyAllocs {
			e.dirtyAllocs = false
			e.updateAllocs()
			continue
		}
		for i := 0; i < len(e.dirtyPools); i++ {
			e.dirtyPools[i].dirty = false
			e.schedule(e.dirtyPools[i])
		}
		e.dirtyPools = e.dirtyPools[:0]
	}
}

// touchJob notes that the job must be updated.
func (e *Engine) touchJob(j *jobState) {
	if !j.dirty {
		j.dirty = true
		e.dirtyJobs = append(e.dirtyJobs, j)
	}
}

// touchAllocs notes that allocations and timeouts must be updated.
func (e *Engine) touchAllocs() { e.dirtyAllocs, e.stale = true, true }
