package coordinator

import (
	"context"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/plan"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/server/rundir"
)

// planPatience bounds how long a plan may take, with all that is asked of the batch system.
const planPatience = 2 * time.Minute

// Plan plans what is left of a job anew, beside the loop, and tells the engine.
func (s *Server) Plan(a step.Plan) {
	l := s.jobs[a.Job]
	if l == nil {
		return
	}
	if a.Remaining.Anew {
		s.log.Warn("a plan left tasks of a job that nothing serves; it is planned anew, as if no allocation were there", "job", a.Job, "reason", a.Reason)
	}
	a.Remaining.Live = moved(a.Remaining.Live, s.ahead)
	s.beside.Go(func() {
		ctx, cancel := context.WithTimeout(s.planCtx, planPatience)
		defer cancel()
		p, err := s.planRest(ctx, l, a)
		in := step.Planned{Job: a.Job, Answer: plan.Answer(wallNow(), p, err)}
		if err != nil {
			s.log.Warn("the remaining tasks of a job cannot be planned", "job", a.Job, "err", err)
		} else {
			s.log.Info("planned", "job", a.Job, "allocs", len(in.Allocs), "decision", in.Decision)
		}
		s.input(in)
	})
}

// planRest decides what is to be asked for on behalf of the job beside what there is.
func (s *Server) planRest(ctx context.Context, l *live, a step.Plan) (plan.Plan, error) {
	l.mu.Lock()
	old, spec := l.Plan, l.Spec // which berth set may replace meanwhile
	l.mu.Unlock()
	d, snap, err := s.snapshot(ctx, queueOf{old.Alloc.On, old.Alloc.Batch.Cluster})
	if err != nil {
		return plan.Plan{}, err
	}
	s.queues.Observe(&snap)
	tester, _ := d.(driver.Tester)
	prof, err := rundir.Profile(ctx, s.store(), spec, old.NodeType)
	if err != nil {
		s.log.Warn("the profile cannot be read", "job", a.Job, "err", err)
	}
	own := rundir.OwnProfiles(ctx, s.store(), spec, a.Remaining.Needs, old.NodeType)
	l.mu.Lock() // over what the run has measured
	q := plan.Question{Now: wallNow(), Snap: snap.Physical(spec.Request.BatchArgs), Spec: rundir.Limited(s.home, spec, &snap), Profile: prof, Remaining: &a.Remaining, Past: s.queues.Past(&snap)}.Again(old, l.measured.all())
	q.Own = l.own(own)
	l.mu.Unlock()
	return rundir.PlanChecked(ctx, s.home, q, tester)
}

// judge has the jobs of a refused allocation planned anew if a smaller one may be accepted. What is known of refusals is a file, so
// the engine is told later, beside the loop, and judge returns true.
func (s *Server) judge(in step.AllocDown) bool {
	req := s.shapes[in.Alloc]
	if !in.Refuse || !req.Elastic {
		return false
	}
	s.beside.Go(func() {
		s.judging.Lock()
		smaller := rundir.Refused(s.home, wallNow(), req, in.Reason)
		s.judging.Unlock()
		if smaller {
			in.Refuse, in.How = false, event.EndRefused
		}
		s.tell(in, s.apply)
	})
	return true
}
