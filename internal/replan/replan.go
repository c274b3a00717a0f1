// Package replan is what lies between plan and engine: what the engine is told of a plan,
// and what it asks put as a question to plan. The coordinator and the simulator both do it
// so; neither has a rule of its own.
//
// It belongs to the pure core: the clock, the queue and the profile are passed in.
package replan

import (
	"time"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/predict"
)

// Retry is how much later a plan is tried again that could not be made for a reason that may
// pass, a batch system that does not answer say.
const Retry = 30 * time.Second

// Work returns the engine's view of a job that was planned.
func Work(spec *job.Spec, p plan.Plan) job.Work {
	w := job.Work{ID: spec.ID, Name: spec.Name, Kind: spec.Kind, Tasks: p.Tasks, Terms: spec.Terms(), Alloc: p.Alloc, Course: p.Course}
	if m := spec.MapReduce; spec.Kind == job.MapReduce {
		w.Reduces, w.SlowStart = p.Reduces, m.SlowStart
	}
	return w
}

// Resume returns what the engine is told to let a job go on by a new plan, and by what its spec says now.
func Resume(spec *job.Spec, failed bool, p plan.Plan) engine.Resume {
	terms := spec.Terms()
	return engine.Resume{JobResumed: event.JobResumed{Job: spec.ID, Failed: failed, Terms: &terms, Alloc: p.Alloc, Course: p.Course}}
}

// Planned returns the answer to engine.Plan: the plan, or why there is none. What only the
// user can mend ends the job; anything else may pass and is tried again after Retry.
func Planned(id job.ID, now job.Time, p plan.Plan, err error) engine.Planned {
	in := engine.Planned{JobPlanned: event.JobPlanned{Job: id}}
	if err != nil {
		in.Failed = err.Error()
		if job.ClassOf(err) != job.User {
			in.Retry = now.Add(Retry)
		}
		return in
	}
	in.Allocs = p.Requests()
	in.Scout, in.TaskTimes = p.Scout, p.TaskTimes
	if len(p.Reasons) > 0 {
		in.Decision = p.Reasons[0]
	}
	return in
}

// Known is what goes into a question besides what the engine says is left.
type Known struct {
	Now      job.Time
	Snap     cluster.Snapshot
	Spec     *job.Spec
	First    plan.Plan        // by which the job was submitted, or resumed
	Profile  *predict.Profile // of earlier runs; nil: there is none
	Measured *Measured        // by this run
}

// Question asks how what is left of a job is to go on, on allocations of the partitions that
// it was first planned for: another's would not serve it.
func Question(k Known, rest engine.Rest) plan.Question {
	spec := *k.Spec
	spec.Request.Partition = k.First.Alloc.Batch.Partitions()
	return plan.Question{
		Now: k.Now, Snap: k.Snap, Spec: &spec,
		Counts:  plan.Counts{Tasks: k.First.Tasks, InputBytes: k.First.InputBytes},
		Profile: k.Profile, Measured: k.Measured.Profile(k.First, k.Now), Rest: Rest(rest),
	}
}

// Rest is the engine's view of what is left, as plan wants it.
func Rest(r engine.Rest) *plan.Rest {
	out := &plan.Rest{Tasks: r.Tasks, Reduces: r.Reduces, CutShort: r.CutShort, Span: r.Span, StartUp: r.StartUp}
	for _, a := range r.Live {
		start := a.Began
		if start == 0 {
			start = a.Start
		}
		if start == 0 {
			start = a.Request.Start
		}
		out.Live = append(out.Live, plan.Live{Request: a.Request, Start: start, Ends: a.Ends})
	}
	return out
}

// Idle reports whether an allocation waits for work, so that another job may be planned with it.
func Idle(a engine.AllocStatus) bool { return a.Idle && a.Begun && a.Request.Elastic }

// Serves reports whether an allocation that waits for work would serve a job that is to run
// on that driver, cluster and partition: it was asked for as the job's own would be (engine,
// pools). A job whose number of nodes or time is given gets just that.
func Serves(r *job.Request, on, cluster, partition string, req job.AllocRequest) bool {
	if r.MinNodes > 0 || r.WallTime == job.WallMax {
		return false
	}
	own := r.Batch(partition)
	own.Cluster = cluster
	return req.On == on && req.Scratch == r.Scratch && req.Batch.Key() == own.Key()
}
