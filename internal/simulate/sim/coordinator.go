package sim

import (
	"cmp"
	"strconv"

	"berth/internal/core/cluster"
	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
	"berth/internal/core/step"
	"berth/internal/core/timeline"
)

// coordinator drives an engine in virtual time, as package coordinator does in real time: it passes
// inputs to the engine one after the other, observes the records, and then carries out the actions.
// It serves one job, or all jobs of a user.
type coordinator struct {
	w       *World
	engine  *engine.Engine
	site    backend
	own     bool // it serves one job and ends with it
	closed  bool
	apps    map[job.ID]*app
	workers map[job.NodeID]*Worker
	inbox   []step.Input
	looping bool
	armed   job.Time // the earliest Tick on the agenda; Never: none
}

// coordinatorOf returns the coordinator of a job: that of its user if one is shared, otherwise a new
// one.
func (w *World) coordinatorOf(a *app) *coordinator {
	if c := w.shared[a.User]; c != nil {
		return c
	}
	c := &coordinator{w: w, engine: engine.New(w.engineConfig()), own: !w.cfg.Adaptor.Shared,
		apps: make(map[job.ID]*app), workers: make(map[job.NodeID]*Worker), armed: timeline.Never}
	c.site = c.backendOf(a)
	if !c.own {
		w.shared[a.User] = c
	}
	return c
}

// backend is where the jobs of a coordinator run: what it asks of a driver (driver.Driver), without what fails only outside of a
// simulation.
type backend interface {
	request(id job.AllocID, req job.AllocRequest) error
	release(id job.AllocID)
	snapshot() cluster.Snapshot
	close()
}

// backendOf returns the cluster, or a driver that rents machines for the job.
func (c *coordinator) backendOf(a *app) backend {
	if c.w.cfg.Adaptor.Way == Rented {
		return newCloud(c, a)
	}
	s := newSite(c.w, c.handle, c.join)
	s.user = "user " + strconv.FormatInt(a.User, 10)
	return s
}

// engineConfig returns the configuration of the engine: default bounds, and an explicit order,
// scheduler and rule, so that results do not change when the engine's defaults do.
func (w *World) engineConfig() engine.Config {
	return engine.Config{Order: cmp.Or(w.cfg.Adaptor.Order, sched.FIFO), Yield: w.cfg.Adaptor.Yield,
		Scheduler: w.cfg.Adaptor.Scheduler, Rule: cmp.Or(w.cfg.Adaptor.Rule, straggler.Rule(straggler.Nothing{}))}
}

func (w *World) submitOf(a *app, p plan.Plan) step.Input {
	work := plan.Work(a.spec, p)
	work.Further, work.Which = a.Further, a.Which
	if w.cfg.Physics != nil {
		w.cfg.Physics.Describe(a.index, &work)
	}
	return step.Submit{Work: work}
}

// handle passes an input to the engine. Inputs that drivers and workers send while the actions are
// carried out are queued and handled afterwards.
func (c *coordinator) handle(in step.Input) {
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
		c.releaseAll()
		return
	}
	c.arm()
}

// step passes one input to the engine. An error for a NodeUp is no failure: the engine rejects a
// node that is no longer needed, and its action says so too.
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
		step.Perform(a, c)
	}
}

// arm schedules a Tick at the engine's next timeout, unless an earlier Tick is scheduled.
func (c *coordinator) arm() {
	if at, ok := c.engine.NextTimeout(); ok && at < c.armed {
		c.armed = max(at, c.w.now+1)
		c.w.agenda.schedule(c.armed, tickRank, c.fire)
	}
}

// fire passes a Tick to the engine if a timeout is due.
func (c *coordinator) fire() {
	c.armed = timeline.Never
	if at, ok := c.engine.NextTimeout(); ok && at <= c.w.now && !c.closed {
		c.handle(step.Tick{})
	} else if !c.closed {
		c.arm()
	}
}

// observe adds a record to the results.
func (c *coordinator) observe(r event.Record) {
	if s, ok := c.site.(*cloud); ok {
		s.watch.Observe(r, s.kindOf)
	}
	if c.w.cfg.Physics != nil {
		c.w.cfg.Physics.Observe(r)
	}
	switch r := r.(type) {
	case event.AttemptStarted:
		c.apps[r.Attempt.Job].start()
	case event.AttemptEnded:
		c.observeEnd(c.apps[r.Attempt.Job], r)
	case event.AllocRequested:
		if r.Job == "" { // requested for all jobs together
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
	if task := r.Attempt.Task; a.Further != nil {
		a.ofNeeds[a.which.At(task)].Add(job.BagTask, r.Stats)
	}
	for _, s := range r.Stats {
		if s.Phase != job.PhaseShuffle { // the shuffle needs no core
			c.w.result.Busy += float64(a.cores(r.Attempt.Task)) * s.Duration().Seconds()
		}
	}
}

// releaseAll releases all allocations and ends the coordinator.
func (c *coordinator) releaseAll() {
	for _, a := range c.engine.Allocs() {
		c.site.release(a.ID)
	}
	c.site.close()
}

// join reports a worker that has connected.
func (c *coordinator) join(k *Worker) {
	c.workers[k.ID] = k
	c.handle(step.NodeUp{NodeJoined: event.NodeJoined{Node: k.ID, Host: k.host(), Addr: k.host(), Capacity: k.capacity(), Outputs: k.outputs(), Type: c.w.machine.kinds[k.Node]}})
}
