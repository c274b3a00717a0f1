package batch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// wakeJob returns the wake-up job with this name.
func (s *site) wakeJob(id job.AllocID) *alloc {
	return &alloc{id: id, dir: filepath.Join(s.wakeDir(), string(id)), wake: true}
}

// loadWakes returns the wake-up jobs of earlier coordinators.
func (s *site) loadWakes() []*alloc {
	folders, _ := os.ReadDir(s.wakeDir()) // there is none before the first
	var left []*alloc
	for _, f := range folders {
		a := s.wakeJob(job.AllocID(f.Name()))
		a.job, a.maybe = a.noted(s.reached())
		if a.script() == "" && a.job == "" { // it was not submitted
			_ = os.RemoveAll(a.dir)
			continue
		}
		left = append(left, a)
	}
	slices.SortFunc(left, func(a, b *alloc) int { return wakeNumber(a.id) - wakeNumber(b.id) })
	return left
}

// wakeNumber returns the number in a wake-up job's name, or 0 if it has none.
func wakeNumber(id job.AllocID) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(id), "w"))
	return n
}

// keepWake ensures that one wake-up job is pending that waits for the jobs in live.
func (s *site) keepWake(ctx context.Context, need *job.AllocRequest, live []string) error {
	if last := s.guard.last(); last.job != "" {
		jobs, err := s.reached().Jobs(ctx, []Job{s.asked(last)})
		if err != nil {
			return err
		}
		if jobs[last.job].Phase == Waiting {
			err := s.putOff(ctx, last, live)
			if err == nil || job.ClassOf(err) == job.Transient {
				return err
			}
			s.Log.Info("a wake-up job cannot be changed; another one replaces it", "job", last.job, "err", err)
		}
	}
	return s.submitWake(ctx, need, live)
}

// last returns the last wake-up job, zero if there is none.
func (g *guard) last() *alloc {
	if n := len(g.jobs); n > 0 {
		return g.jobs[n-1]
	}
	return &alloc{}
}

// putOff makes a pending wake-up job wait for the jobs in live, or for wakeDelay if live is empty.
func (s *site) putOff(ctx context.Context, a *alloc, live []string) error {
	g, now := &s.guard, s.Now()
	if !g.changed(live) && (len(live) > 0 || now < g.pushed.Add(wakePush)) {
		return nil
	}
	if err := s.reached().Delay(ctx, a.job, waitFor(live)); err != nil {
		return err
	}
	g.depends, g.known, g.pushed = live, true, now
	return nil
}

// waitFor returns the condition of a wake-up job: the end of the jobs in live, or wakeDelay if live is empty.
func waitFor(live []string) Wait {
	if len(live) == 0 {
		return Wait{Delay: wakeDelay}
	}
	return Wait{After: live}
}

// submitWake submits a wake-up job that waits for the jobs in live, or for wakeDelay if live is empty.
// It completes a submission that an earlier coordinator began.
func (s *site) submitWake(ctx context.Context, need *job.AllocRequest, live []string) error {
	g := &s.guard
	a := g.last()
	if a.id == "" || a.job != "" { // else it is unknown whether its submission succeeded
		g.number++
		a = s.wakeJob(job.AllocID(fmt.Sprintf("w%d", g.number)))
		if err := s.prepareWake(a); err != nil {
			return err
		}
		g.jobs = append(g.jobs, a)
	}
	a.req, a.wait = s.wakeRequest(need), waitFor(live)
	id, err := s.ensureSubmitted(ctx, a)
	a.maybe = err != nil
	if err != nil {
		g.like = !g.like && job.ClassOf(err) == job.User
		return err
	}
	a.job = id
	g.depends, g.known, g.pushed = live, true, s.Now()
	s.Log.Info("a wake-up job is submitted", "job", id, "after", live)
	return nil
}

// retireWakes leaves the wake-up jobs to the loop, which cancels them, except the last keep of them.
func (s *site) retireWakes(keep int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &s.guard
	g.try.reset()
	old := g.jobs[:max(0, len(g.jobs)-keep)]
	for _, a := range old {
		a.released, a.clear = true, true
	}
	s.allocs, g.jobs = append(s.allocs, old...), g.jobs[len(old):]
	if len(g.jobs) == 0 {
		g.known, g.safe = false, false
	}
}
