package sim

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/step"
)

// to calls f with the worker of a node, unless the worker has ended.
func (c *coordinator) to(node job.NodeID, f func(*Worker)) {
	if k := c.workers[node]; k != nil && !k.dead {
		f(k)
	}
}

// attempt calls f with an attempt on a node, unless it has ended.
func (c *coordinator) attempt(node job.NodeID, id job.Attempt, f func(*Attempt)) {
	c.to(node, func(k *Worker) {
		if i := slices.IndexFunc(k.Runs, func(r *Attempt) bool { return r.ID == id }); i >= 0 {
			f(k.Runs[i])
		}
	})
}

func (c *coordinator) Start(a step.Start) {
	c.to(a.Node, func(k *Worker) { k.start(c.apps[a.Attempt.Job], a) })
}

func (c *coordinator) Join(step.Join)   {} // a gang is simulated on its first node, where the engine ends it if another is lost
func (c *coordinator) Leave(step.Leave) {}

func (c *coordinator) Kill(a step.Kill) {
	c.attempt(a.Node, a.Attempt, func(r *Attempt) { r.end(event.AttemptEnded{Outcome: event.Killed, Reason: a.Reason}) })
}

func (c *coordinator) Grant(a step.Grant) {
	c.attempt(a.Node, a.Attempt, func(r *Attempt) { r.course.Grant(a.Phase, a.Memory) })
}

func (c *coordinator) Commit(a step.Commit) {
	c.attempt(a.Node, a.Attempt, func(r *Attempt) { r.end(event.AttemptEnded{Outcome: event.Done}) })
}

func (c *coordinator) Ask(step.Ask) {} // no jobs of a simulation write the same files

func (c *coordinator) Locate(a step.Locate) {
	c.to(a.Node, func(k *Worker) { k.locate(c.apps[a.Attempt.Job], a) })
}

func (c *coordinator) Ends(step.Ends) {} // its workers ask the batch system that is simulated

func (c *coordinator) Forget(a step.Forget) {
	c.to(a.Node, func(k *Worker) { delete(k.known, a.Job) })
}

func (c *coordinator) Request(a step.Request) {
	if err := c.site.request(a.Alloc, a.Request); err != nil {
		c.handle(step.AllocDown{Alloc: a.Alloc, Reason: err.Error(), Refuse: true})
	}
}

func (c *coordinator) Release(a step.Release) { c.site.release(a.Alloc) }

func (c *coordinator) Plan(a step.Plan) {
	app := c.apps[a.Job]
	if a.Remaining.Anew {
		c.w.anew++
	}
	pl, err := c.decide(app, &a.Remaining)
	c.handle(step.Planned{Job: a.Job, Answer: plan.Answer(c.w.now, pl, err)})
}

// Clear has nothing to remove: simulated nodes keep no files.
func (c *coordinator) Clear(a step.Clear) { c.handle(step.Cleared{Alloc: a.Alloc}) }

// Seek is never called, because no job of a simulation has stages.
func (c *coordinator) Seek(step.Seek) {}

func (c *coordinator) Finalize(a step.Finalize) {
	c.handle(step.Finalized{Job: a.Job})
}
