package coordinator

import (
	"context"
	"errors"
	"os"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/sys/statedir"
)

// How many runs that are over stay on disk if the user says nothing: as many as a start and
// berth status read in a moment, with a hundred megabytes or so. But none goes that ended in
// the last day: a script may run thousands of jobs in an hour, and somebody wants to see
// which of them failed.
const (
	defaultRuns = 1000
	defaultStay = 24 * time.Hour
)

// forgetRun removes what the state folder has of a job that is over: its folder, and its
// place in history. What was measured in it stays in the profile of its application.
func (s *Server) forgetRun(ctx context.Context, id job.ID) error {
	if statedir.RunNumber(id) == 0 {
		return unknownJob(id)
	}
	if err := s.awaitFiled(ctx, id); err != nil {
		return err
	}
	if err := s.home.Reserve(id); err != nil {
		return err
	}
	if err := s.call(func() error { return s.hide(id) }); err != nil {
		return err
	}
	return errors.Join(s.store().ForgetRun(ctx, id), s.home.RemoveHidden())
}

// hide takes a job that is over out of memory, and its folder out of sight. It runs in the
// loop, so that the job cannot be resumed in between.
func (s *Server) hide(id job.ID) error {
	r := s.home.Run(id)
	if _, err := os.Stat(r.Dir); err != nil {
		return unknownJob(id)
	}
	if _, err := os.Stat(r.Journal()); err != nil {
		return job.ArgumentError(string(id), "the job was never submitted", "remove it with: berth cancel "+string(id))
	}
	if l := s.jobs[id]; l != nil {
		if _, archived := l.ends(); !closed(archived) || !s.dismiss(l, true) {
			return job.ArgumentError(string(id), "the job is not over", "cancel it first with: berth cancel "+string(id))
		}
	}
	err := s.home.Hide(id)
	s.file(r)
	return err
}

// prune removes the oldest runs that are over beyond the number that is kept, beside the
// loop. It runs in the loop.
func (s *Server) prune() {
	s.alone(&s.pruning, func() { // else the next job that ends sees to it
		if err := s.pruneNow(); err != nil && !errors.Is(err, errStopped) {
			s.log.Error("old runs stay", "err", err)
		}
	})
}

func (s *Server) pruneNow() error {
	keep, stay := defaultRuns, defaultStay
	if s.choice.KeepRuns != nil {
		keep, stay = *s.choice.KeepRuns, 0
	}
	runs, err := s.home.List()
	if err != nil || keep == control.AllRuns || len(runs) <= keep {
		return err
	}
	for i, end := range s.home.Ends(runs[:len(runs)-keep]) {
		r := runs[i]
		if end.IsZero() || time.Since(end) < stay || s.lookup(r.ID) != nil {
			continue
		}
		if err := s.call(func() error { return s.hide(r.ID) }); err != nil {
			return err
		}
		s.log.Info("an old run is removed", "job", r.ID)
	}
	return s.home.RemoveHidden()
}
