package batch

import (
	"context"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
)

// loop submits, polls and cancels until the driver is closed. Only the loop calls the
// batch system for allocations, one call after the other, and never with the lock held.
func (s *site) loop(ctx context.Context) {
	for ctx.Err() == nil {
		s.submitDue(ctx)
		s.guardDue(ctx)
		s.cancelDue(ctx)
		s.pollDue(ctx)
		s.pause(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
	defer cancel()
	s.finish(last)
}

// finish sends the cancellations that are due, and waits for the end of jobs whose folders are
// to be removed, until ctx ends. A later driver finds the rest.
func (s *site) finish(ctx context.Context) {
	s.guardDue(ctx)
	for s.cancelDue(ctx); ctx.Err() == nil; s.cancelDue(ctx) {
		if s.due(func(a *alloc, _ job.Time) bool { return a.clear && !a.wake && (a.job == "" || a.job != s.Inside) }) == nil {
			return
		}
		s.pollDue(ctx)
		s.pause(ctx)
	}
}

// look is the time between two looks at whether anything is due. A look asks the batch system nothing.
const look = 250 * time.Millisecond

// pause waits until the loop looks again, or is nudged.
func (s *site) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.wake:
	case <-time.After(min(s.Poll, look)):
	}
}

// due returns the first allocation for which want returns true, or nil.
func (s *site) due(want func(a *alloc, now job.Time) bool) *alloc {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	for _, a := range s.allocs {
		if want(a, now) {
			return a
		}
	}
	return nil
}

// forget removes an allocation from the loop's list, and its folders if they are to be cleared. A
// goroutine removes the folders, as they may contain much. The lock is held.
func (s *site) forget(a *alloc) {
	s.allocs = slices.DeleteFunc(s.allocs, func(b *alloc) bool { return a == b })
	if !a.clear {
		return
	}
	s.work.Go(func() {
		if err := s.remove(a); err != nil {
			s.Log.Warn("an allocation's folder cannot be removed", "alloc", a.id, "err", err)
		}
	})
}

// reportNote reports what an allocation waits for, unless this was the last note. The lock is held.
func (s *site) reportNote(a *alloc, text string, start job.Time) {
	if a.released || a.down || a.note == text && a.start == start {
		return
	}
	a.note, a.start = text, start
	s.outbox.Put(step.AllocNote{Alloc: a.id, Note: text, Start: start, Suspended: a.odd})
}

// reportDown reports that an allocation has ended. The lock is held.
func (s *site) reportDown(a *alloc, down step.AllocDown) {
	if a.released || a.down {
		return
	}
	a.down, down.Alloc = true, a.id
	s.Log.Info("allocation is over", "alloc", a.id, "job", a.job, "reason", down.Reason)
	s.outbox.Put(down)
}

// clock formats a time of day for people.
func clock(t job.Time) string { return t.Std().Local().Format("15:04:05") }
