package sim

import (
	"cmp"

	"berth/internal/driver"
	"berth/internal/engine"
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/sched"
	"berth/internal/sched/straggler"
	"berth/internal/step"
	"berth/internal/timeline"
)

// coordinator is the shell around an engine in virtual time, as package coordinator is in
// real time: inputs go in one after the other, records are looked at, then actions are
// carried out. It has a job of its own, or all jobs of a user.
type coordinator struct {
	w       *world
	engine  *engine.Engine
	site    place
	own     bool // it ends with its job
	closed  bool
	apps    map[job.ID]*app
	workers map[job.NodeID]*worker
	inbox   []step.Input
	looping bool
	armed   job.Time // the earliest tick that is on the agenda; Never: none is
}

// coordinatorOf returns the coordinator of a job, new unless its user has one.
func (w *world) coordinatorOf(a *app) *coordinator {
	if c := w.shared[a.User]; c != nil {
		return c
	}
	c := &coordinator{w: w, engine: engine.New(w.engineConfig()), own: !w.cfg.Adaptor.Shared,
		apps: make(map[job.ID]*app), workers: make(map[job.NodeID]*worker), armed: timeline.Never}
	c.site = c.placeOf(a)
	if !c.own {
		w.shared[a.User] = c
	}
	return c
}

// place is where the jobs of a coordinator run.
type place interface {
	driver.Driver
	expect(live []job.Live)
}

// placeOf returns the cluster, or machines that are rented for the job.
func (c *coordinator) placeOf(a *app) place {
	if c.w.cfg.Adaptor.Way == Rented {
		return newCloud(c, a)
	}
	s := newSite(c.w, c.tell, c.join)
	s.fast = c.fast
	return s
}

// rule returns what is done about slow tasks.
func (w *world) rule() straggler.Rule {
	if w.cfg.Adaptor.Rule == nil {
		return straggler.Nothing{}
	}
	return w.cfg.Adaptor.Rule
}

// engineConfig returns the engine's bounds, all at their defaults, and its order of jobs.
// Nothing is left to the engine's own default of that: what is compared does not change with it.
func (w *world) engineConfig() engine.Config {
	return engine.Config{Order: cmp.Or(w.cfg.Adaptor.Order, sched.FIFO), Yield: w.cfg.Adaptor.Yield,
		Scheduler: cmp.Or(w.cfg.Adaptor.Scheduler, sched.Cores), Tuning: w.cfg.Adaptor.Tuning, Rule: w.rule()}
}

func (w *world) submitOf(a *app, p plan.Plan) step.Input {
	work := plan.Work(a.spec, p)
	if a.Phased != nil {
		work.Demands, work.Homes = a.Phased.Demands, w.machine.homes(a.Phased.Homes)
	}
	return step.Submit{Work: work}
}

// tell hands an input to the engine, and all that comes of it: what drivers and workers
// answer while actions are carried out waits its turn.
func (c *coordinator) tell(in step.Input) {
	c.inbox = append(c.inbox, in)
	if c.looping {
		return
	}
	c.looping = true
	for i := 0; i < len(c.inbox) && c.w.err == nil; i++ {
		c.step(c.inbox[i])
	}
	clear(c.inbox)
	c.inbox, c.looping = c.inbox[:0], false
	if c.closed {
		c.giveBack()
		return
	}
	c.arm()
}

// step hands one input to the engine. That a node is not wanted any more it says itself,
// by an action.
func (c *coordinator) step(in step.Input) {
	out, err := c.engine.Step(c.w.now, in)
	if _, late := in.(step.NodeUp); err != nil && !late {
		c.w.fail(err)
		return
	}
	for _, r := range out.Records {
		c.observe(r)
		if c.w.watch != nil {
			c.w.watch(c, r)
		}
	}
	for _, a := range out.Actions {
		step.Perform(a, performer{c})
	}
}

// arm notes when the engine next wants to be told the time.
func (c *coordinator) arm() {
	if at, ok := c.engine.NextTimeout(); ok && at < c.armed {
		c.armed = max(at, c.w.now+1)
		c.w.agenda.note(c.armed, tickRank, c)
	}
}

// happen tells the engine the time, if it is due.
func (c *coordinator) happen() {
	c.armed = timeline.Never
	if at, ok := c.engine.NextTimeout(); ok && at <= c.w.now && !c.closed {
		c.tell(step.Tick{})
	} else if !c.closed {
		c.arm()
	}
}

// observe takes a record into the results.
func (c *coordinator) observe(r event.Record) {
	if s, ok := c.site.(*cloud); ok {
		s.watch.Observe(r, s.kindOf)
	}
	switch r := r.(type) {
	case event.AttemptStarted:
		c.apps[r.Attempt.Job].start()
	case event.AttemptEnded:
		c.observeEnd(c.apps[r.Attempt.Job], r)
	case event.AllocRequested:
		if r.Job == "" { // for all jobs
			return
		}
		o := c.apps[r.Job].out
		if o.Allocs++; o.Allocs == 1 {
			o.Nodes = r.Request.Nodes
		}
	case event.JobEnded:
		c.apps[r.Job].end(r.State != event.StateDone)
		c.closed = c.own
	}
}

func (c *coordinator) observeEnd(a *app, r event.AttemptEnded) {
	if r.Outcome != event.Done {
		a.out.Lost++
		return
	}
	a.measured.Add(a.kind(r.Attempt.Task), r.Stats)
	for _, s := range r.Stats {
		if s.Phase != job.PhaseShuffle { // which takes no core
			c.w.result.Busy += s.Duration().Seconds()
		}
	}
}

// giveBack ends all allocations: a coordinator without jobs ends.
func (c *coordinator) giveBack() {
	for _, a := range c.engine.Allocs() {
		c.w.fail(c.site.Release(c.w.ctx, a.ID))
	}
	c.w.fail(c.site.Close())
}

// join takes a worker in that dials.
func (c *coordinator) join(k *worker) {
	c.workers[k.id] = k
	c.tell(step.NodeUp{NodeJoined: event.NodeJoined{Node: k.id, Host: k.host(), Addr: k.host(), Capacity: k.capacity(), Outputs: k.outputs(), Type: c.w.machine.kind(k.node)}})
}
