package coordinator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"berth/internal/control"
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/step"
)

// submit takes on a run whose folder a command has written.
func (s *Server) submit(id job.ID, env ...string) error {
	if s.lookup(id) != nil {
		return nil // the command asks again, as the coordinator before died before it could answer
	}
	if _, over := archived(s.home.Run(id)); over {
		return nil // so it does, and the job has ended meanwhile
	}
	if _, err := os.Stat(s.home.JournalOf(id)); err == nil && !s.journals.Has(id) { // to append to it would end the loop
		return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: s.home.JournalOf(id), What: "the job was handed in before, and its journal could not be read since",
			Do: "the log says why: " + s.home.ServerLog()}
	}
	l, err := s.load(id)
	if err != nil {
		return err
	}
	if err := s.reachable(l.Plan.Alloc.On); err != nil {
		return err
	}
	if err := s.enter(l.Plan.Alloc, env); err != nil {
		return err
	}
	return s.call(func() error { return s.takeOn(l, plan.Work(l.Spec, l.Plan)) })
}

// takeOn puts a new job into the engine. It runs in the loop.
func (s *Server) takeOn(l *live, work job.Work) error {
	id := l.Spec.ID
	if s.jobs[id] != nil {
		return nil
	}
	if _, err := (event.Entry{Record: event.JobSubmitted{Work: work}}).Marshal(); err != nil {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: string(id), What: "the job cannot be recorded", Err: err}
	}
	s.keep(l)
	if err := s.step(step.Submit{Work: work}); err != nil {
		s.drop(id)
		return err
	}
	return nil
}

// resume lets a job that is over go on, by the plan that its command has written.
func (s *Server) resume(ctx context.Context, id job.ID, req control.Resume) error {
	if err := s.awaitFiled(ctx, id); err != nil {
		return err
	}
	fresh, err := s.reopen(s.home.Run(id))
	if err != nil {
		return err
	}
	terms, p := fresh.Spec.Terms(), fresh.Plan
	if err := s.enter(p.Alloc, req.Env); err != nil {
		return err
	}
	return s.call(func() error {
		l, err := s.recall(fresh)
		if err != nil {
			return err
		}
		before := l.assign(fresh.assignment) // it may have been changed for this resume
		s.untell(id)
		if err := s.step(step.Resume{JobResumed: event.JobResumed{Job: id, Failed: req.Failed, Terms: &terms, Alloc: p.Alloc, Course: p.Course}}); err != nil {
			l.assign(before)
			return err
		}
		// The summary goes before the record is written: a coordinator that finds one takes the job for over.
		if err := os.Remove(l.run.Summary()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// awaitFiled waits until all that stays of a job which is over is written: nothing of the
// run that ended may be written once the next one has begun.
func (s *Server) awaitFiled(ctx context.Context, id job.ID) error {
	l := s.lookup(id)
	if l == nil || !event.State(l.view(s.now()).State).Final() {
		return nil
	}
	_, archived := l.ends()
	select {
	case <-archived:
		return nil
	case <-s.stopped:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(archivePatience):
		return &job.Error{Class: job.User, Code: job.CodeIO, Where: string(id),
			What: "the end of its last run is not written yet, as a file system does not answer or nobody reads a pipe",
			Do:   "try again when its job log and its output can be written"}
	}
}
