package engine

import (
	"fmt"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/step"
)

// Engine is the state of all jobs, tasks, nodes and allocations, and what decides
// over them. Its methods must not be called at the same time.
type Engine struct {
	cfg Config
	now job.Time // of the step under way

	jobs      map[job.ID]*jobState
	line      []*jobState // all jobs, in order of submission
	orders    uint64      // submissions and resumes so far
	pools     []*pool     // those in use, oldest first
	nodes     map[job.NodeID]*node
	nodeList  []*node // by index; 0 is none
	allocs    map[job.AllocID]*alloc
	allocList []*alloc // not over, oldest first
	lastAlloc int      // highest number given to an allocation
	over      []*alloc // of batch systems, that ended and are not cleared, oldest first

	out Output // of the last step, or the one under way

	// What follows is work that a step has left to settle, and is empty between steps.

	dirtyJobs   []*jobState
	dirtyPools  []*pool
	dirtyAllocs bool
	dirtyOver   bool

	round uint64 // of looking for jobs without an allocation of their own

	deadline job.Time // next time at which something happens by itself; 0: none
	stale    bool     // deadline is to be computed anew
	expired  job.Time // up to which suspicions that ended were looked at

	lookAt    job.Time // when running attempts are looked at next; 0: none is watched
	recovered job.Time // when this coordinator took over; 0: it is the first
}

// Output is what came of a step. The records are to be made durable, in their order,
// with the step's time, before any of the actions is carried out, in their order. It holds until the next step, which
// uses its memory again.
type Output struct {
	Records []event.Record
	Actions []step.Action
}

// New returns an engine without jobs or allocations.
func New(cfg Config) *Engine {
	return &Engine{
		cfg:      cfg.withDefaults(),
		jobs:     make(map[job.ID]*jobState),
		nodes:    make(map[job.NodeID]*node),
		nodeList: make([]*node, 1),
		allocs:   make(map[job.AllocID]*alloc),
	}
}

// Step takes an input in at a time and returns what comes of it.
//
// An input that cannot be taken is answered with a *job.Error: Submit, Cancel and
// Resume that make no sense as things stand, NodeUp of a node that belongs to no
// live allocation, and Said of an attempt that is another node's. The output is to be carried out all the same: time has passed.
// What workers and drivers say late about things that are over is no error and changes nothing.
func (e *Engine) Step(now job.Time, in step.Input) (Output, error) {
	e.begin(now)
	err := e.handle(in)
	e.advance()
	return e.out, err
}

// Replay applies a record that an earlier coordinator wrote. Records are given in
// the order of their sequence numbers; those of a job that had ended may be given
// later, before the job is resumed. After the last one, Recover is called.
func (e *Engine) Replay(ent event.Entry) { e.apply(ent.At, ent.Record) }

// Recover makes the replayed state good after the coordinator that wrote it died:
// nodes have to join again, what was cut short is finished. The caller asks drivers
// to adopt Allocs beside it.
func (e *Engine) Recover(now job.Time) Output {
	e.begin(now)
	e.recover()
	e.advance()
	return e.out
}

func (e *Engine) begin(now job.Time) {
	e.NextTimeout() // what is due by now depends on how things stood before
	e.now = now
	e.out = Output{Records: e.out.Records[:0], Actions: e.out.Actions[:0]}
}

// emit makes a record, and with it a change.
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
		e.found(in)
	case step.Cleared:
		e.cleared(in)
	case step.Tick:
	default:
		panic(fmt.Sprintf("engine: unknown input %T", in))
	}
	return nil
}

// advance draws the consequences of what was taken in, until there are no more.
func (e *Engine) advance() {
	e.expire()
	e.updateDirty()
	if e.lookAt != 0 && e.now >= e.lookAt {
		e.look()
		e.updateDirty()
	}
}

// updateDirty settles what has changed.
func (e *Engine) updateDirty() {
	for len(e.dirtyJobs) > 0 || len(e.dirtyPools) > 0 || e.dirtyAllocs {
		for i := 0; i < len(e.dirtyJobs); i++ { // more may come
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

// touch notes that the job is to be judged anew.
func (e *Engine) touch(j *jobState) {
	if !j.dirty {
		j.dirty = true
		e.dirtyJobs = append(e.dirtyJobs, j)
	}
}

// touchAllocs notes that allocations and timeouts are to be looked at.
func (e *Engine) touchAllocs() { e.dirtyAllocs, e.stale = true, true }
