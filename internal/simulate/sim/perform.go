package sim

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/step"
)

// performer carries out the actions of a coordinator's engine.
type performer struct{ c *coordinator }

// to calls f with the worker of a node, unless the worker has ended.
func (p performer) to(node job.NodeID, f func(*Worker)) {
	if k := p.c.workers[node]; k != nil && !k.dead {
		f(k)
	}
}

// attempt calls f with an attempt on a node, unless it has ended.
func (p performer) attempt(node job.NodeID, id job.Attempt, f func(*Attempt)) {
	p.to(node, func(k *Worker) {
		if i := slices.IndexFunc(k.Runs, func(r *Attempt) bool { return r.ID == id }); i >= 0 {
			f(k.Runs[i])
		}
	})
}

func (p performer) Start(a step.Start) {
	p.to(a.Node, func(k *Worker) { k.start(p.c.apps[a.Attempt.Job], a) })
}

func (p performer) Kill(a step.Kill) {
	p.attempt(a.Node, a.Attempt, func(r *Attempt) { r.end(event.AttemptEnded{Outcome: event.Killed, Reason: a.Reason}) })
}

func (p performer) Grant(a step.Grant) {
	p.attempt(a.Node, a.Attempt, func(r *Attempt) { r.course.Grant(a.Phase, a.Memory) })
}

func (p performer) Commit(a step.Commit) {
	p.attempt(a.Node, a.Attempt, func(r *Attempt) { r.end(event.AttemptEnded{Outcome: event.Done}) })
}

func (p performer) Ask(step.Ask) {} // no jobs of a simulation write the same files

func (p performer) Locate(a step.Locate) {
	p.to(a.Node, func(k *Worker) { k.locate(p.c.apps[a.Attempt.Job], a) })
}

func (p performer) Ends(step.Ends) {} // its workers ask the batch system that is simulated

func (p performer) Forget(a step.Forget) {
	p.to(a.Node, func(k *Worker) { delete(k.known, a.Job) })
}

func (p performer) Request(a step.Request) {
	if err := p.c.site.request(a.Alloc, a.Request); err != nil {
		p.c.handle(step.AllocDown{Alloc: a.Alloc, Reason: err.Error(), Refuse: true})
	}
}

func (p performer) Release(a step.Release) { p.c.site.release(a.Alloc) }

func (p performer) Plan(a step.Plan) {
	app := p.c.apps[a.Job]
	if a.Remaining.Anew {
		p.c.w.anew++
	}
	pl, err := p.c.decide(app, &a.Remaining)
	p.c.handle(step.Planned{Job: a.Job, Answer: plan.Answer(p.c.w.now, pl, err)})
}

// Clear has nothing to remove: simulated nodes keep no files.
func (p performer) Clear(a step.Clear) { p.c.handle(step.Cleared{Alloc: a.Alloc}) }

// Seek is never called, because no job of a simulation has stages.
func (p performer) Seek(step.Seek) {}

func (p performer) Finalize(a step.Finalize) {
	p.c.handle(step.Finalized{Job: a.Job})
}
