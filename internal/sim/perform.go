package sim

import (
	"berth/internal/engine"
	"berth/internal/plan"
)

// performer carries out a coordinator's actions.
type performer struct{ c *coordinator }

// to passes something on to a worker that lives.
func (p performer) to(k *worker, f func(*worker)) {
	if k != nil && !k.dead {
		f(k)
	}
}

func (p performer) Start(a engine.Start) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.start(p.c.apps[a.Attempt.Job], a) })
}

func (p performer) Kill(a engine.Kill) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.kill(a) })
}

func (p performer) Leave(a engine.Leave) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.leave(a) })
}

func (p performer) Commit(a engine.Commit) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.commit(a) })
}

func (p performer) Locate(a engine.Locate) {
	p.to(p.c.workers[a.Node], func(k *worker) { k.locate(p.c.apps[a.Attempt.Job], a) })
}

func (p performer) Forget(a engine.Forget) {
	p.to(p.c.workers[a.Node], func(k *worker) { delete(k.known, a.Job) })
}

func (p performer) Request(a engine.Request) {
	if err := p.c.site.Request(p.c.w.ctx, a.Alloc, a.Request); err != nil {
		p.c.tell(engine.AllocDown{Alloc: a.Alloc, Reason: err.Error(), Refuse: true})
	}
}

func (p performer) Release(a engine.Release) {
	p.c.w.fail(p.c.site.Release(p.c.w.ctx, a.Alloc))
}

func (p performer) Plan(a engine.Plan) {
	job := p.c.apps[a.Job]
	pl, err := p.c.decide(job, &a.Rest)
	p.c.tell(engine.Planned{Job: a.Job, Answer: plan.Answer(p.c.w.now, pl, err)})
}

func (p performer) Clear(a engine.Clear) {
	p.c.w.fail(p.c.site.Clear(p.c.w.ctx, a.Alloc))
	p.c.tell(engine.Cleared{Alloc: a.Alloc})
}

func (p performer) Finalize(a engine.Finalize) {
	p.c.tell(engine.Finalized{Job: a.Job})
}
