package batch

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/core/job"
)

// The wake-up job is a small batch job that is kept submitted while any job of the batch system
// is unfinished. It can start when all allocations have ended. While there is no allocation, it can start
// some minutes after a living coordinator has last delayed it. It waits until no coordinator lives and
// then becomes the coordinator (berth server run --as-stand-in --wait). A coordinator that sees a
// wake-up job run first submits the next one and then cancels it, so that there always is one.

// WakeName is the name of wake-up jobs in the queue.
const WakeName = "berth-wake"

const (
	wakeTime  = 15 * time.Minute // wall time of a wake-up job
	wakeMem   = 512 << 20        // its memory, bytes
	wakeDelay = 10 * time.Minute // its delay while there is no allocation
	wakePush  = wakeDelay / 2    // interval at which a coordinator renews the delay
	// wakeFirst is the number of Options.Poll intervals before the first wake-up job is submitted. Jobs
	// that end earlier need none, and their allocations are submitted first.
	wakeFirst = 2
	// wakeYield is how long no wake-up job is submitted after one prevented the submission of an allocation.
	wakeYield = 10 * time.Minute
)

// guard is the state of the wake-up jobs. The driver's lock guards the first part. Only the loop
// uses the rest.
type guard struct {
	asked bool              // KeepAwake was called
	need  *job.AllocRequest // of an unfinished job; nil: there is none
	since job.Time          // time from which there is an unfinished job
	note  string            // why there is no wake-up job
	safe  bool              // one is submitted and can start
	yield job.Time          // none is submitted before this time

	loaded  bool     // the jobs of earlier coordinators were read
	jobs    []*alloc // submitted and not given to the loop, which cancels them, oldest first
	number  int      // in the name of the last one; none is used twice, as the loop may still cancel one that had it
	depends []string // the jobs that the last one waits for, if known is set
	known   bool
	pushed  job.Time // when it was last delayed
	next    job.Time // when it is checked again
	like    bool     // the last one was refused: the next one requests as much as the job's own allocations
	try     backoff
}

// keepAwake keeps a wake-up job submitted for an unfinished job with this request; nil: no job is unfinished.
func (s *site) keepAwake(req *job.AllocRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || req == nil && s.stop == nil && !s.wakesLeft() {
		return
	}
	if s.guard.need == nil {
		s.guard.since = s.Now()
	}
	s.guard.asked, s.guard.need = true, req
	s.begin()
	s.nudge()
}

// wakesIn returns the folder of all wake-up jobs, given the folder of the allocations. It has one folder for each cluster.
func wakesIn(dir string) string { return dir + "-wake" }

func (s *site) wakeDir() string {
	return filepath.Join(wakesIn(s.Dir), cmp.Or(s.id, noCluster))
}

// noCluster is the name of the folder for jobs that name no cluster.
const noCluster = "default"

// wakesLeft reports whether an earlier coordinator has left wake-up jobs.
func (s *site) wakesLeft() bool {
	left, err := os.ReadDir(s.wakeDir())
	return err == nil && len(left) > 0
}

// guardWants returns the request for which a wake-up job is wanted, and the jobs for whose end it waits. ok is
// false while nothing is to be done. The lock is held.
func (s *site) guardWants(now job.Time) (need *job.AllocRequest, live []string, ok bool) {
	g := &s.guard
	if !g.asked {
		return nil, nil, false
	}
	need = g.need
	if !s.Wake || s.StandIn == nil || now < g.yield {
		need = nil
	}
	for _, a := range s.allocs {
		switch {
		case a.released || a.down:
		case a.job != "":
			live = append(live, a.job)
		case a.submit.failures == 0 && s.submit.failures == 0:
			return need, nil, need == nil // it will be submitted in a moment and is to be waited for, too
		}
	}
	slices.Sort(live)
	early := len(g.jobs) == 0 && now < g.since.Add(wakeFirst*s.Poll)
	return need, live, need == nil || now >= g.try.next && !early
}

// changed reports whether the wake-up job waits for other jobs than live.
func (g *guard) changed(live []string) bool { return !g.known || !slices.Equal(live, g.depends) }

// guardDue submits, updates and cancels wake-up jobs if that is due.
func (s *site) guardDue(ctx context.Context) {
	g, now := &s.guard, s.Now()
	s.mu.Lock()
	asked := g.asked
	s.mu.Unlock()
	if asked && !g.loaded {
		g.loaded, g.jobs = true, s.loadWakes()
		g.number = wakeNumber(g.last().id)
	}
	s.mu.Lock()
	need, live, ok := s.guardWants(now)
	s.mu.Unlock()
	if !ok || ctx.Err() != nil {
		return
	}
	if need == nil {
		s.retireWakes(0)
	} else if g.changed(live) || now >= g.next {
		s.guarded(ctx, s.keepWake(ctx, need, live))
	}
}

// guarded records the result of a check of the wake-up job. Those before the last one are not needed any more then.
func (s *site) guarded(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		s.retireWakes(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g, now := &s.guard, s.Now()
	if g.safe = err == nil; g.safe {
		g.note, g.next = "", now.Add(slowest*s.Poll)
		return
	}
	g.try.fail(now, s.RetryFirst, s.RetryMax)
	if g.note == "" {
		s.Log.Warn("no wake-up job can be submitted; it is tried again", "err", err)
	}
	g.note = noGuard + s.words.System + " does not accept the wake-up job: " + wordsOf(err)
}

// mayCancel reports whether an allocation may be cancelled now. The allocation in which this process
// runs is cancelled last, and only when something else can continue the jobs. The lock is held.
func (s *site) mayCancel(a *alloc, now job.Time) bool {
	if s.Inside == "" || a.job != s.Inside || a.wake {
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

// noGuard begins the note to users while no wake-up job is submitted.
const noGuard = "your jobs do not continue by themselves if no coordinator and no allocation is left: "

// giveWay cancels the wake-up job because the batch system accepts no allocation beside it, as a limit bounds the
// number of jobs of a user. The lock is held.
func (s *site) giveWay(now job.Time, err error) {
	g := &s.guard
	if len(g.jobs) == 0 || now < g.yield {
		return
	}
	g.yield, g.safe, g.next = now.Add(wakeYield), false, 0
	g.note = noGuard + "the wake-up job made room for an allocation: " + wordsOf(err)
	s.Log.Info("the wake-up job makes room for an allocation", "err", err)
	s.nudge()
}
