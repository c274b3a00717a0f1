package sim

import (
	"strconv"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/simulate/workload"
)

// app is an elastic job (a MapReduce job or a bag) during the simulation.
type app struct {
	*workload.Elastic
	w           *World
	index       int // its index in Config.Elastic
	id          job.ID
	spec        *job.Spec
	profile     *predict.Profile // nil: the application has no profile
	coordinator *coordinator     // nil until the job arrives
	first       plan.Plan        // the plan of the submission
	measured    predict.Collector
	which       job.NeedsByTask
	ofNeeds     []predict.Collector // of the tasks with the same needs, by their index (job.Work.NeedsAt)
	out         *Outcome
	started     bool
	over        bool
	then        []*app // the jobs that arrive when this job has ended
}

// newApps returns the elastic jobs of the workload.
func newApps(w *World) []*app {
	profiles := profilesOf(w.cfg)
	apps := make([]*app, len(w.cfg.Elastic))
	for i := range w.cfg.Elastic {
		e := &w.cfg.Elastic[i]
		a := &app{Elastic: e, w: w, index: i, out: &w.result.Elastic[i]}
		a.spec = specOf(e, i, &w.cfg.Adaptor.Request)
		a.id = a.spec.ID
		a.profile = profiles[profileKey{e.App, a.spec.Kind}]
		if a.Further != nil {
			a.groupTasks()
		}
		apps[i] = a
	}
	return apps
}

// IDOf returns the ID of a job, by its index in Config.Elastic.
func IDOf(e *workload.Elastic, index int) job.ID {
	prefix := "mr-"
	if len(e.Reduces) == 0 {
		prefix = "bag-"
	}
	return job.ID(prefix + strconv.Itoa(index+1))
}

// specOf returns the job specification that a command would make: each task needs one core, and the
// number of attempts is that of Hadoop.
func specOf(e *workload.Elastic, index int, r *job.Request) *job.Spec {
	kind := job.MapReduce
	if len(e.Reduces) == 0 {
		kind = job.Bag
	}
	s := job.New(kind, "/")
	s.ID, s.Name = IDOf(e, index), e.App
	idle := s.Request.IdleTimeout
	s.Request = *r
	s.Request.On = siteName
	if e.Due > 0 {
		s.Request.Due = Epoch + e.Due
	}
	if s.Request.IdleTimeout == 0 {
		s.Request.IdleTimeout = idle
	}
	if kind == job.Bag {
		s.Bag.Command, s.Bag.Retries = []string{e.App}, job.DefaultAttempts-1
	} else {
		m := s.MapReduce
		m.Mapper, m.Reducer, m.Reduces = job.Program{Args: []string{e.App}}, &job.Program{Args: []string{e.App}}, len(e.Reduces)
	}
	s.Normalize()
	return s
}

// kind returns the kind of a task.
func (a *app) kind(task int) job.TaskKind { return a.spec.Kind.TaskKind(len(a.Maps), task) }

// arrive plans the job and submits it.
func (a *app) arrive() {
	*a.out = Outcome{Submit: since(a.w.now)}
	a.coordinator = a.w.coordinatorOf(a)
	a.submit()
}

// submit plans the job as a command does and passes it to its coordinator. After a transient error,
// such as no usable node at present, it retries later.
func (a *app) submit() {
	c := a.coordinator
	p, err := c.decide(a, nil)
	switch {
	case err == nil:
	case job.ClassOf(err) == job.Transient:
		a.w.agenda.schedule(a.w.now.Add(plan.Retry), arrivalRank, a.submit)
		return
	default:
		a.w.fail(&job.Error{Class: job.ClassOf(err), Code: job.CodeOf(err), Where: "job " + strconv.FormatInt(a.ID, 10), What: "it cannot be planned", Err: err})
		return
	}
	a.first = p
	c.apps[a.id] = a
	c.handle(c.w.submitOf(a, p))
}

// start records that an attempt of the job begins.
func (a *app) start() {
	if !a.started {
		a.started, a.out.Start = true, since(a.w.now)
	}
}

// end records that the job has ended and lets the jobs arrive that waited for it.
func (a *app) end(failed bool) {
	a.start() // a job without any attempt starts when it ends
	a.over, a.out.Killed, a.out.Finish = true, failed, since(a.w.now)
	a.w.left--
	for _, next := range a.then {
		a.w.agenda.schedule(a.w.now, arrivalRank, next.arrive)
	}
}
