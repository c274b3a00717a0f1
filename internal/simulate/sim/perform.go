package sim

import (
	"berth/internal/core/plan"
	"berth/internal/core/step"
)

// performer carries out the actions of a coordinator's engine.
type performer struct{ c *coordinator }

// to calls f with the worker, unless the worker has ended.
func (p performer) to(k *worker, f func(*worker)) {
	if k != nil && !k.dead {
		f(k)
	}
}

func (p performer) Start(a step.Start) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.start(p.c.apps[a.Attempt.Job], a) })
}

func (p performer) Kill(a step.Kill) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.kill(a) })
}

func (p performer) Grant(a step.Grant) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.leave(a) })
}

func (p performer) Commit(a step.Commit) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.commit(a) })
}

func (p performer) Ask(step.Ask) {} // no jobs of a simulation write the same files

func (p performer) Locate(a step.Locate) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.locate(p.c.apps[a.Attempt.Job], a) })
}

func (p performer) Ends(step.Ends) {} // its workers ask the batch system that is simulated

func (p performer) Forget(a step.Forget) {
	p.to(p.c.workers[a.Node], func(k *worker) { delete(k.known, a.Job) })
}

func (p performer) Request(a step.Request) {
	if err := p.c.site.Request(p.c.w.ctx, a.Alloc, a.Request); err != nil {
		p.c.handle(step.AllocDown{Alloc: a.Alloc, Reason: err.Error(), Refuse: true})
	}
}

func (p performer) Release(a step.Release) {
	p.c.w.fail(p.c.site.Release(p.c.w.ctx, a.Alloc))
}

func (p performer) Plan(a step.Plan) {
	job := p.c.apps[a.Job]
	if a.Remaining.Anew {
		p.c.w.anew++
	}
	pl, err := p.c.decide(job, &a.Remaining)
	p.c.handle(step.Planned{Job: a.Job, Answer: plan.Answer(p.c.w.now, pl, err)})
}

func (p performer) Clear(a step.Clear) {
	p.c.w.fail(p.c.site.Clear(p.c.w.ctx, a.Alloc))
	p.c.handle(step.Cleared{Alloc: a.Alloc})
}

// Seek is never called, because no job of a simulation has stages.
func (p performer) Seek(step.Seek) {}

func (p performer) Finalize(a step.Finalize) {
	p.c.handle(step.Finalized{Job: a.Job})
}
