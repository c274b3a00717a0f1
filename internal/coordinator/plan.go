package coordinator

import (
	"context"
	"time"

	"berth/internal/driver"
	"berth/internal/engine"
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/predict"
	"berth/internal/run"
)

// planPatience bounds how long a plan may take, with all that is asked of the batch system.
const planPatience = 2 * time.Minute

// planRetry is when a plan that could not be made, as the batch system does not answer
// say, is tried again.
const planRetry = 30 * time.Second

// plan plans what is left of a job anew, beside the loop, and tells the engine.
func (s *Server) plan(a engine.Plan) {
	l := s.jobs[a.Job]
	if l == nil {
		return
	}
	s.planning.Add(1)
	go func() {
		defer s.planning.Done()
		ctx, cancel := context.WithTimeout(s.planCtx, planPatience)
		defer cancel()
		p, err := s.planRest(ctx, l, a)
		s.input(s.planned(a.Job, p, err))
	}()
}

// planned is what the engine is told of a plan, or of why there is none. What only
// the user can mend ends the job; anything else may pass.
func (s *Server) planned(id job.ID, p plan.Plan, err error) engine.Planned {
	in := engine.Planned{JobPlanned: event.JobPlanned{Job: id}}
	if err != nil {
		in.Failed = err.Error()
		if job.ClassOf(err) != job.User {
			in.Retry = s.now().Add(planRetry)
		}
		s.log.Warn("what is left of a job cannot be planned", "job", id, "err", err)
		return in
	}
	in.Allocs = p.Requests()
	in.Scout, in.TaskTime, in.ReduceTime = p.Scout, p.TaskTime, p.ReduceTime
	if len(p.Reasons) > 0 {
		in.Decision = p.Reasons[0]
	}
	s.log.Info("planned", "job", id, "allocs", len(in.Allocs), "decision", in.Decision)
	return in
}

// planRest decides what is to be asked for on behalf of the job beside what there is.
func (s *Server) planRest(ctx context.Context, l *live, a engine.Plan) (plan.Plan, error) {
	old, err := run.LoadPlan(l.run)
	if err != nil {
		return plan.Plan{}, err
	}
	d := s.drivers[old.Alloc.On]
	if d == nil {
		return plan.Plan{}, &job.Error{Class: job.Transient, Where: old.Alloc.On, What: "its commands are not on the coordinator's PATH"}
	}
	snap, err := d.Snapshot(ctx)
	if err != nil {
		return plan.Plan{}, err
	}
	tester, _ := d.(driver.Tester)
	prof, err := run.Profile(ctx, s.store, old.App, old.NodeType)
	if err != nil {
		s.log.Warn("the profile cannot be read", "job", a.Job, "err", err)
	}
	spec := *l.spec
	spec.Request.Partition = old.Alloc.Batch.Partition // another's allocations would not serve the job
	return run.Settle(ctx, plan.Question{
		Now: s.now(), Snap: snap, Spec: &spec,
		Counts:  plan.Counts{Tasks: old.Tasks, InputBytes: old.InputBytes},
		Profile: prof, Measured: l.measuredSoFar(old, s.now()), Rest: rest(a.Rest),
	}, tester)
}

// measuredSoFar returns what the run has shown so far as a profile, nil for nothing.
func (l *live) measuredSoFar(p plan.Plan, now job.Time) *predict.Profile {
	l.mu.Lock()
	defer l.mu.Unlock()
	ms := l.measured.Measures()
	count := func(part predict.Part) int { return int(ms.Get(part).Time.Count) }
	size := predict.Size{Kind: p.Kind, Tasks: count(predict.BagTask), Reduces: count(predict.ReduceTask)}
	if p.Kind == job.MapReduce {
		size.Tasks = count(predict.MapTask)
	}
	if size.Tasks == 0 {
		return nil
	}
	if p.Tasks > 0 {
		size.InputBytes = p.InputBytes * int64(size.Tasks) / int64(p.Tasks)
	}
	prof := &predict.Profile{App: p.App, NodeType: p.NodeType}
	prof.AddRun(size, now, ms)
	return prof
}

// rest is the engine's view of what is left, as the plan wants it.
func rest(r engine.Rest) *plan.Rest {
	out := &plan.Rest{Tasks: r.Tasks, Reduces: r.Reduces, CutShort: r.CutShort}
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
