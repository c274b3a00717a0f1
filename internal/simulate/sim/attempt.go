package sim

import (
	"math"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// Attempt is an attempt of a task that runs on a worker. Its course says what it does there.
type Attempt struct {
	ID     job.Attempt
	Kind   job.TaskKind
	Worker *Worker
	Fails  bool // the attempt fails halfway
	app    *app
	course Course
	over   bool
	commit bool // the attempt may commit without asking
	stats  []job.PhaseStat
}

// Course is what an attempt does from its start to its end. It calls the methods of the attempt to tell the coordinator.
type Course interface {
	Start()
	// Grant lets the attempt begin all phases up to one, with so many bytes for sorting and merging.
	Grant(through job.Phase, memory int64)
	// Located says that the worker knows the place of a further map output.
	Located()
	// Stop ends what the attempt does on its node, because it has ended or its worker has.
	Stop(how event.Outcome)
}

// Physics gives attempts other courses than that of fixed durations (Fixed), and nodes that are not alike.
type Physics interface {
	// Begin is called once, before the simulation.
	Begin(w *World)
	// Describe completes what the engine is told of the job with that index in Config.Elastic.
	Describe(index int, work *job.Work)
	// Course returns the course of an attempt that begins.
	Course(r *Attempt, through job.Phase, memory int64) Course
	// EndInstant is called when all events of an instant have happened.
	EndInstant()
	// Observe is called with each record of a coordinator.
	Observe(r event.Record)
}

// start begins an attempt.
func (k *Worker) start(a *app, s step.Start) {
	w := k.g.site.w
	r := &Attempt{ID: s.Attempt, Kind: a.kind(s.Attempt.Task), Worker: k, app: a, commit: s.Commit, Fails: w.attemptFails(s.Attempt, a.index)}
	switch task := s.Attempt.Task; {
	case w.cfg.Physics != nil:
		r.course = w.cfg.Physics.Course(r, s.Through, s.Memory)
	case k.rentedMachine != nil:
		r.course = NewFixed(r, k.rentedMachine.onType(a.duration(task)))
	default:
		r.course = NewFixed(r, w.onNode(a.duration(task), k.Node))
	}
	k.Runs = append(k.Runs, r)
	r.course.Start()
}

// Job returns the index of the attempt's job in Config.Elastic.
func (r *Attempt) Job() int { return r.app.index }

// Over reports whether the attempt has ended.
func (r *Attempt) Over() bool { return r.over }

// Enter reports that the attempt begins a phase.
func (r *Attempt) Enter(p job.Phase) {
	r.Worker.Send(step.PhaseEntered{PhaseEntered: event.PhaseEntered{Attempt: r.ID, Phase: p}})
}

// Want asks for a grant to begin a phase.
func (r *Attempt) Want(p job.Phase) { r.Worker.Send(step.GrantWanted{Attempt: r.ID, Phase: p}) }

// Measured adds what was measured of a phase.
func (r *Attempt) Measured(s job.PhaseStat) {
	if r.stats == nil {
		r.stats = make([]job.PhaseStat, 0, 3)
	}
	r.stats = append(r.stats, s)
}

// Fail ends an attempt whose program fails.
func (r *Attempt) Fail() {
	r.end(event.AttemptEnded{Outcome: event.Failed, Exit: 1, Reason: "exit status 1"})
}

// Done ends an attempt that has done its work, or asks for the permission to commit.
func (r *Attempt) Done() {
	if r.Kind == job.ReduceTask || r.Kind == job.BagTask && !r.commit {
		r.Worker.Send(step.CommitWanted{Attempt: r.ID})
		return
	}
	r.end(event.AttemptEnded{Outcome: event.Done})
}

// duration returns the computing time of a task on a core of speed 1.
func (a *app) duration(task int) time.Duration {
	if task < len(a.Maps) {
		return a.Maps[task]
	}
	return a.Reduces[task-len(a.Maps)]
}

// onNode returns how long work of duration d takes on the node if it begins now.
func (w *World) onNode(d time.Duration, node int) time.Duration {
	factor := 1 / w.machine.speed(node)
	if w.machine.state[node].slow {
		factor *= w.cfg.Faults.SlowBy
	}
	if factor == 1 {
		return d
	}
	return roundMilli(float64(d) * factor)
}

// roundMilli rounds nanoseconds to a whole millisecond, the resolution of all durations that are
// drawn.
func roundMilli(ns float64) time.Duration {
	return time.Duration(math.Round(ns/float64(time.Millisecond))) * time.Millisecond
}
