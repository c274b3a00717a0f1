package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
)

// pausedAfter is the number of consecutive failed submissions after which messages call it a pause.
const pausedAfter = 5

// newEnvironment returns what a user can do if submissions continue to fail.
func (s *site) newEnvironment() string {
	return "; if " + s.words.Ask + " answers in your shell, cancel the job and resume it from there, which gives berth that shell's environment"
}

// soonAfter is the time between a submission and the first poll of its job. A job that finds free nodes starts at once.
const soonAfter = time.Second

// submitDue submits all jobs that are due.
func (s *site) submitDue(ctx context.Context) {
	for ctx.Err() == nil {
		a := s.due(func(a *alloc, now job.Time) bool {
			return a.job == "" && !a.released && now >= a.submit.next && now >= s.submit.next
		})
		if a == nil {
			return
		}
		id, givenUp, err := s.trySubmit(ctx, a)
		if ctx.Err() != nil {
			return // it was interrupted; a later driver finds out whether the job exists
		}
		if givenUp {
			continue
		}
		s.submitted(a, id, err)
	}
}

// trySubmit submits an allocation's job. givenUp reports that the submission has not come back though the job has begun, and the allocation was
// released meanwhile (see release): its job is found then, and cancelled.
func (s *site) trySubmit(ctx context.Context, a *alloc) (id string, givenUp bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.mu.Lock()
	a.stop = stop
	s.mu.Unlock()
	id, err = s.ensureSubmitted(ctx, a)
	s.mu.Lock()
	defer s.mu.Unlock()
	a.stop, givenUp = nil, err != nil && ctx.Err() != nil
	a.maybe = a.maybe || givenUp
	return id, givenUp, err
}

// submitted records the result of a submission.
func (s *site) submitted(a *alloc, id string, err error) {
	s.mu.Lock()
	defer s.unlock()
	now := s.Now()
	switch {
	case err == nil:
		a.job, a.maybe, a.unsaid = id, false, false
		s.submit.reset()
		s.nextPoll = now.Add(s.soon())
		s.Log.Info("allocation is submitted", "alloc", a.id, "job", id)
	case errors.Is(err, ErrLater):
		a.submit.fail(now, s.RetryFirst, s.RetryMax)
		s.Log.Info("the batch system accepts no job now", "alloc", a.id, "err", err)
		s.giveWay(now, err)
		s.reportNote(a, fmt.Sprintf("%s does not accept its job now: %s; next try at %s", s.words.System, wordsOf(err), clock(a.submit.next)), 0)
	case job.ClassOf(err) == job.Transient && !(errors.Is(err, ErrUnsaid) && a.unsaid):
		a.maybe, a.unsaid = true, errors.Is(err, ErrUnsaid)
		s.submit.fail(now, s.RetryFirst, s.RetryMax)
		s.Log.Warn("submission failed", "alloc", a.id, "failures", s.submit.failures, "err", err)
		s.noteWaiting(err)
	default:
		s.Log.Warn("the batch system refuses a job", "alloc", a.id, "err", err)
		s.reportDown(a, step.AllocDown{Reason: s.words.System + " refuses its job: " + wordsOf(err), Refuse: true})
		a.clear = true // nothing has run in its folder
		s.forget(a)
	}
}

// noteWaiting reports to all allocations that are not submitted yet why they are not. The lock is held.
func (s *site) noteWaiting(err error) {
	text := "submission failed: %s; next try at %s"
	if s.submit.failures >= pausedAfter {
		text = fmt.Sprintf("submission is paused after %d failures", s.submit.failures) + ": %s; next try at %s" + s.newEnvironment()
	}
	for _, a := range s.allocs {
		if a.job == "" {
			s.reportNote(a, fmt.Sprintf(text, wordsOf(err), clock(s.submit.next)), 0)
		}
	}
}

// wordsOf returns the batch system's message in an error, without the name of the command.
func wordsOf(err error) string {
	var e *job.Error
	if errors.As(err, &e) {
		if e.Do != "" {
			return e.What + "; " + e.Do
		}
		return e.What
	}
	return err.Error()
}

// ensureSubmitted returns the id of the allocation's job. If an earlier submission succeeded
// without the driver's knowledge, it is that job, else a new one.
func (s *site) ensureSubmitted(ctx context.Context, a *alloc) (string, error) {
	f, err := a.lockJobFile()
	if err != nil {
		return "", err
	}
	defer f.Close()
	system := s.reached()
	if id, _ := a.noted(system); id != "" {
		return id, nil
	}
	script := a.script()
	if script == "" {
		return "", folderError(a.dir, errors.New("its script is missing"))
	}
	if a.maybe {
		id, err := system.Find(ctx, script)
		if id != "" {
			_, err = f.WriteString(id + "\n")
		}
		if id != "" || err != nil {
			return id, err
		}
	}
	req := a.req
	if a.wake {
		req.Batch.Args = Where(req.Batch.Args, s.words.Where)
	}
	return system.Submit(ctx, Submission{Request: req, Script: script, Dir: a.dir, Output: s.output(a), Wait: a.wait, Note: func(text string) {
		s.mu.Lock()
		defer s.unlock()
		s.reportNote(a, text, 0)
	}}, f)
}

// errSubmitting is the error while the submitting command of an earlier coordinator still runs.
var errSubmitting = job.TransientError("", "an earlier submission is still under way", ErrLater)
