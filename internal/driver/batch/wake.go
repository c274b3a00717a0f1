package batch

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/job"
)

// The wake-up job is a small batch job that is kept submitted while any job of the batch system
// is unfinished. It may begin when all allocations are over, or, where there is none, some
// minutes after a coordinator was last alive to put that off. It waits until nobody is left and
// becomes the coordinator then (berth server run --as-stand-in --wait). A coordinator that sees
// it run submits the next one first and cancels it then, so that there is always one.

// WakeName is what the queue shows the wake-up job as.
const WakeName = "berth-wake"

const (
	wakeTime  = 15 * time.Minute // the longest that a wake-up job runs
	wakeMem   = 512 << 20
	wakeDelay = 10 * time.Minute // after which a coordinator is missed while there is no allocation
	wakePush  = wakeDelay / 2    // how often its begin is put off
	// wakeFirst is how many Options.Poll pass before the first one is submitted: what is over
	// by then needs none, and its allocation is submitted meanwhile.
	wakeFirst = 2
	// wakeYield is how long no wake-up job is submitted after one stood in the way of an allocation.
	wakeYield = 10 * time.Minute
)

// guard is what is known of wake-up jobs. The driver's lock guards the first part; the rest is
// the loop's own.
type guard struct {
	asked bool              // KeepAwake was called
	need  *job.AllocRequest // of a job that is unfinished; nil: there is none
	since job.Time          // when there came to be one
	note  string            // why there is no wake-up job
	safe  bool              // one is submitted and can begin
	yield job.Time          // none is to be submitted before

	loaded  bool
	jobs    []*alloc // submitted and not known to be over, oldest first
	depends []string // on which the last one depends, where that is known
	known   bool
	pushed  job.Time // when its begin was last put off
	next    job.Time // when to look at it again
	try     backoff
}

// keepAwake has a wake-up job kept submitted for the sake of a job that asked for req; nil: not any more.
func (s *site) keepAwake(req *job.AllocRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || req == nil && s.stop == nil && !s.wakesLeft() {
		return
	}
	if s.guard.need == nil {
		s.guard.since = s.opts.Now()
	}
	s.guard.asked, s.guard.need = true, req
	s.begin()
	s.nudge()
}

// guardNote says why no wake-up job can be kept ready, empty where one is or none is wanted.
func (s *site) guardNote() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard.note
}

// wakesIn returns the folder of all wake-up jobs, given that of the allocations; each cluster has one in it.
func wakesIn(dir string) string { return dir + "-wake" }

func (s *site) wakeDir() string {
	return filepath.Join(wakesIn(s.opts.Dir), cmp.Or(s.id, noCluster))
}

// noCluster stands for the cluster of jobs that name none.
const noCluster = "default"

// wakesLeft reports whether an earlier coordinator has left wake-up jobs.
func (s *site) wakesLeft() bool {
	left, err := os.ReadDir(s.wakeDir())
	return err == nil && len(left) > 0
}

// guardWants returns what the wake-up job is for and which jobs it is to wait for; ok is
// false while nothing is to be done about it. The lock is held.
func (s *site) guardWants(now job.Time) (need *job.AllocRequest, live []string, ok bool) {
	g := &s.guard
	if !g.asked {
		return nil, nil, false
	}
	need = g.need
	if !s.opts.Wake || s.opts.StandIn == nil || now < g.yield {
		need = nil
	}
	for _, a := range s.allocs {
		switch {
		case a.released || a.down:
		case a.job != "":
			live = append(live, a.job)
		case a.submit.failures == 0 && s.submit.failures == 0:
			return need, nil, need == nil // it is submitted in a moment, and belongs to the set
		}
	}
	slices.Sort(live)
	early := len(g.jobs) == 0 && now < g.since.Add(wakeFirst*s.opts.Poll)
	return need, live, need == nil || now >= g.try.next && !early
}

// changed reports whether the wake-up job depends on other jobs than it is to.
func (g *guard) changed(live []string) bool { return !g.known || !slices.Equal(live, g.depends) }

// guardNext returns when the wake-up job is next to be looked after. The lock is held.
func (s *site) guardNext(now job.Time) job.Time {
	g := &s.guard
	never := now.Add(time.Hour) // it is woken
	if !g.asked {
		return never
	}
	need, live, ok := s.guardWants(now)
	switch {
	case !ok:
		return max(g.try.next, now.Add(s.opts.RetryFirst))
	case need == nil && g.loaded && len(g.jobs) == 0 && now < g.yield:
		return g.yield
	case need == nil && g.loaded && len(g.jobs) == 0:
		return never
	case need != nil && g.loaded && !g.changed(live):
		return max(g.next, g.try.next)
	}
	return max(g.try.next, now)
}

// guardDue submits, updates and cancels wake-up jobs as is wanted now.
func (s *site) guardDue(ctx context.Context) {
	g, now := &s.guard, s.opts.Now()
	s.mu.Lock()
	asked := g.asked
	s.mu.Unlock()
	if asked && !g.loaded {
		g.loaded, g.jobs = true, s.loadWakes()
	}
	s.mu.Lock()
	need, live, ok := s.guardWants(now)
	s.mu.Unlock()
	if !ok || ctx.Err() != nil {
		return
	}
	if need == nil && (len(g.jobs) == 0 || now < g.try.next) || need != nil && !g.changed(live) && now < g.next {
		return
	}
	var err error
	if need == nil {
		err = s.cancelWakes(ctx, len(g.jobs))
	} else {
		err = s.keepWake(ctx, need, live)
	}
	s.guarded(ctx, need, err)
}

// guarded takes in what came of looking after the wake-up job.
func (s *site) guarded(ctx context.Context, need *job.AllocRequest, err error) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g, now := &s.guard, s.opts.Now()
	g.safe = err == nil && need != nil
	if err == nil {
		g.try.reset()
		g.next = now.Add(slowest * s.opts.Poll)
		if need != nil {
			g.note = ""
		}
		return
	}
	g.try.fail(now, s.opts.RetryFirst, s.opts.RetryMax)
	if need == nil {
		s.opts.Log.Info("a wake-up job is not cancelled", "err", err)
		return
	}
	if g.note == "" {
		s.opts.Log.Warn("no wake-up job can be kept ready", "err", err)
	}
	g.note = "nobody carries on should no coordinator and no allocation be left: " + s.words.System + " takes no wake-up job: " + wordsOf(err)
}

// mayCancel reports whether an allocation may be cancelled now. The one in which this process
// runs goes last, and not before somebody is sure to carry on. The lock is held.
func (s *site) mayCancel(a *alloc, now job.Time) bool {
	if s.opts.Inside == "" || a.job != s.opts.Inside {
		return true
	}
	next := s.guard.safe || s.guard.asked && s.guard.need == nil
	for _, b := range s.allocs {
		switch {
		case b == a:
		case b.released && now >= b.cancel.next:
			return false
		case !b.released && !b.down && b.job != "":
			next = true
		}
	}
	return next
}

// giveWay cancels the wake-up job, as the batch system takes no allocation beside it: a limit on how many
// jobs a user may submit. The lock is held.
func (s *site) giveWay(now job.Time, err error) {
	g := &s.guard
	if len(g.jobs) == 0 || now < g.yield {
		return
	}
	g.yield, g.safe, g.next = now.Add(wakeYield), false, 0
	g.note = "nobody carries on should no coordinator and no allocation be left: the wake-up job made room for an allocation: " + wordsOf(err)
	s.opts.Log.Info("the wake-up job makes room for an allocation", "err", err)
	s.nudge()
}
