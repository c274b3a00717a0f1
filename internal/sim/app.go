package sim

import (
	"strconv"

	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/predict"
	"berth/internal/workload"
)

// app is an elastic job: a MapReduce job or a bag.
type app struct {
	*workload.Elastic
	w           *world
	index       int // in Config.Elastic
	id          job.ID
	spec        *job.Spec
	profile     *predict.Profile // nil: none
	coordinator *coordinator     // nil: it has not arrived
	first       plan.Plan        // by which it was submitted
	measured    predict.Collector
	out         *Outcome
	started     bool
	over        bool
	then        []*app // that arrive when it is over
	live        []int  // attempts of each task that live, where they are paced
}

// newApps returns the elastic jobs of the workload.
func newApps(w *world) []*app {
	profiles := profilesOf(w.cfg)
	apps := make([]*app, len(w.cfg.Elastic))
	for i := range w.cfg.Elastic {
		e := &w.cfg.Elastic[i]
		a := &app{Elastic: e, w: w, index: i, out: &w.result.Elastic[i], live: make([]int, len(e.Paces))}
		a.spec = specOf(e, i, &w.cfg.Adaptor.Request)
		a.id = a.spec.ID
		a.profile = profiles[profileKey{e.App, a.spec.Kind}]
		apps[i] = a
	}
	return apps
}

// specOf returns the spec that a command would make of the job: its tasks need one core
// each, its attempts are as many as Hadoop's.
func specOf(e *workload.Elastic, index int, r *job.Request) *job.Spec {
	kind, prefix := job.MapReduce, "mr-"
	if len(e.Reduces) == 0 {
		kind, prefix = job.Bag, "bag-"
	}
	s := job.New(kind, "/")
	s.ID, s.Name = job.ID(prefix+strconv.Itoa(index+1)), e.App
	idle := s.Request.IdleTimeout
	s.Request = *r
	s.Request.On = siteName
	if s.Request.IdleTimeout == 0 {
		s.Request.IdleTimeout = idle
	}
	if kind == job.Bag {
		s.Bag.DuplicatesOK = e.Paces != nil
		s.Bag.Command, s.Bag.Retries = []string{e.App}, job.DefaultAttempts-1
	} else {
		m := s.MapReduce
		m.Mapper, m.Reducer, m.Reduces = job.Program{Args: []string{e.App}}, &job.Program{Args: []string{e.App}}, len(e.Reduces)
	}
	s.Normalize()
	if e.Phased != nil {
		s.MapReduce.MapNeed.Mem, s.MapReduce.ReduceNeed.Mem = e.Phased.Peaks()
	}
	return s
}

// kind returns the kind of a task.
func (a *app) kind(task int) job.TaskKind { return a.spec.Kind.TaskKind(len(a.Maps), task) }

// arrive has the job planned and submitted.
func (a *app) arrive() {
	*a.out = Outcome{Submit: since(a.w.now)}
	a.coordinator = a.w.coordinatorOf(a)
	a.submit()
}

// happen tries again to submit the job.
func (a *app) happen() { a.submit() }

// submit plans the job as a command does and hands it to its coordinator. Where there are no
// nodes for it at the moment it tries again after a while.
func (a *app) submit() {
	c := a.coordinator
	p, err := c.decide(a, nil)
	switch {
	case err == nil:
	case job.ClassOf(err) == job.Transient:
		a.w.agenda.note(a.w.now.Add(plan.Retry), arrivalRank, a)
		return
	default:
		a.w.fail(&job.Error{Class: job.ClassOf(err), Code: job.CodeOf(err), Where: "job " + strconv.FormatInt(a.ID, 10), What: "it cannot be planned", Err: err})
		return
	}
	a.first = p
	c.apps[a.id] = a
	c.tell(c.w.submitOf(a, p))
}

// start takes in that an attempt of the job begins.
func (a *app) start() {
	if !a.started {
		a.started, a.out.Start = true, since(a.w.now)
	}
}

// end takes in that the job is over.
func (a *app) end(failed bool) {
	a.start() // one without an attempt ends as it starts
	a.over, a.out.Killed, a.out.Finish = true, failed, since(a.w.now)
	a.w.left--
	for _, next := range a.then {
		a.w.agenda.note(a.w.now, arrivalRank, arrival{next})
	}
}

// arrival is when a job arrives that waited for another.
type arrival struct{ a *app }

func (r arrival) happen() { r.a.arrive() }
