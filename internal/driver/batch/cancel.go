package batch

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"berth/internal/core/job"
)

// cancelAgain is the time after which a cancelled job that has not ended is cancelled again.
const cancelAgain = time.Minute

// cancelDue cancels the jobs of all released allocations that are due.
func (s *site) cancelDue(ctx context.Context) {
	for ctx.Err() == nil {
		a := s.due(func(a *alloc, now job.Time) bool { return a.released && now >= a.cancel.next && s.mayCancel(a, now) })
		if a == nil {
			return
		}
		over, err := s.withdraw(ctx, a)
		s.withdrawn(a, over, err)
	}
}

// withdraw cancels an allocation's job. over reports that the allocation has no job.
func (s *site) withdraw(ctx context.Context, a *alloc) (over bool, err error) {
	if a.job == "" {
		id, err := s.submittedAs(ctx, a)
		if id == "" || err != nil {
			return err == nil || errors.Is(err, fs.ErrNotExist), err
		}
		s.mu.Lock()
		a.job = id
		s.mu.Unlock()
	}
	if a.wake && a.job == s.Inside {
		return true, nil // it ends with this process, which is part of it
	}
	if err = s.cancelJob(ctx, a); errors.Is(err, ErrGone) {
		err = nil // the next poll finds out
	}
	return false, err
}

// submittedAs returns the id of an allocation's job, "" if there is none. While its submission is under way, which may hang although the batch
// system has taken the job, there is one only if the batch system shows it.
func (s *site) submittedAs(ctx context.Context, a *alloc) (id string, err error) {
	f, locked := a.lockJobFile()
	switch {
	case locked == nil:
		defer f.Close()
	case !errors.Is(locked, errSubmitting):
		return "", locked
	}
	system := s.reached()
	id, _ = a.noted(system)
	if script := a.script(); id == "" && script != "" && (a.maybe || locked != nil) {
		id, err = system.Find(ctx, script)
	}
	if id == "" && err == nil {
		err = locked
	}
	return id, err
}

// cancelJob cancels an allocation's job, unless the batch system says that another job has its id.
func (s *site) cancelJob(ctx context.Context, a *alloc) error {
	s.mu.Lock()
	asked := s.asked(a)
	s.mu.Unlock()
	system := s.reached()
	if a.script() != "" {
		if jobs, err := system.Jobs(ctx, []Job{asked}); err == nil && jobs[asked.ID].Other {
			return ErrGone
		}
	}
	return system.Cancel(ctx, asked.ID, a.cancelled)
}

// withdrawn records the result of a cancellation.
func (s *site) withdrawn(a *alloc, over bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	switch {
	case over, a.wake && err == nil:
		if err != nil {
			s.Log.Warn("an allocation's folder cannot be read", "alloc", a.id, "err", err)
		}
		s.forget(a)
	case errors.Is(err, context.Canceled): // the driver is closing, and finish tries once more
	case err != nil:
		a.cancel.fail(now, s.RetryFirst, s.RetryMax)
		s.Log.Warn("a job cannot be cancelled; it is tried again", "alloc", a.id, "job", a.job, "err", err)
	default:
		a.cancelled, a.cancel.next = true, now.Add(cancelAgain)
		s.nextPoll = min(s.nextPoll, now.Add(s.soon()))
		s.Log.Info("allocation is cancelled", "alloc", a.id, "job", a.job)
	}
}
