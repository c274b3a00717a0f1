package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/probe"
	"berth/internal/process"
	"berth/internal/wire"
)

// attempt is one attempt that runs here.
type attempt struct {
	id    job.Attempt
	start *wire.Start
	work  *work
	meter *probe.Meter
	begun time.Time

	ctx    context.Context
	cancel context.CancelCauseFunc // its cause is a *process.Failure

	through atomic.Uint32 // may run up to and including this job.Phase
	memory  atomic.Int64  // granted with it (job.Grant)
	pace    *shuffle.Pace // of fetches, granted as well, and changed while they go on
	commit  atomic.Uint64 // connection that permission to commit came over; 0: none
	nudge   chan struct{} // grant or commit changed
	waits   atomic.Uint32 // job.Phase that it waits for a grant for

	cwd   string // folder in which the command of a bag runs, before it is started
	gauge gauge

	told job.Phase // last phase that the coordinator was told; the monitor's

	programs process.Set
}

func newAttempt(m *wire.Start, wk *work, epoch uint64) *attempt {
	a := &attempt{id: m.Attempt, start: m, work: wk, nudge: make(chan struct{}, 1), begun: time.Now(), pace: shuffle.NewPace(m.Net)}
	a.meter = probe.NewMeter(probe.Now, nil)
	a.programs.Meter = a.meter
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	a.memory.Store(m.Grant.Memory)
	a.through.Store(uint32(m.Through))
	if m.Commit {
		a.commit.Store(epoch)
	}
	return a
}

// kill ends the attempt; the first reason given is the one that is told.
func (a *attempt) kill(f *process.Failure) {
	a.cancel(f)
	a.programs.Kill()
}

// killed returns why the attempt was killed, nil if it was not.
func (a *attempt) killed() error {
	if a.ctx.Err() == nil {
		return nil
	}
	return context.Cause(a.ctx)
}

// withdrawn reports whether the attempt was killed because its result is not wanted.
func (a *attempt) withdrawn() bool {
	var f *process.Failure
	return errors.As(a.killed(), &f) && (f.Outcome == event.Killed || f.Outcome == event.Lost)
}

// grant takes a grant for phases up to that one, and what the attempt may use in them. Of a grant that it has only the rate to fetch with
// is new.
func (a *attempt) grant(phase job.Phase, g job.Grant) {
	a.pace.Set(g.Net)
	if uint32(phase) > a.through.Load() {
		a.memory.Store(g.Memory)
		a.through.Store(uint32(phase))
	}
	a.changed()
}

// permit takes permission to commit that came over that connection.
func (a *attempt) permit(epoch uint64) {
	a.commit.Store(epoch)
	a.changed()
}

func (a *attempt) changed() {
	select {
	case a.nudge <- struct{}{}:
	default: // a nudge is on its way
	}
}

// covers reports whether the attempt may begin the phase without asking.
func (a *attempt) covers(p job.Phase) bool { return a.through.Load() >= uint32(p) }

// awaitGrant blocks until the attempt may begin the phase.
func (a *attempt) awaitGrant(ctx context.Context, l *link, p job.Phase) error {
	a.waits.Store(uint32(p))
	defer a.waits.Store(uint32(job.PhaseNone))
	return a.await(ctx, l, wish{wishGrant, a.id}, &wire.GrantWanted{Attempt: a.id, Phase: p},
		func() bool { return a.covers(p) })
}

// enter begins a phase once the attempt has a grant for it. While it waits it is in no phase.
func (a *attempt) enter(l *link, p job.Phase) error {
	if !a.covers(p) {
		a.meter.Enter(job.PhaseNone)
		if err := a.awaitGrant(a.ctx, l, p); err != nil {
			return err
		}
	}
	a.meter.Enter(p)
	return nil
}

// awaitCommit blocks until the attempt may put its output into place.
func (a *attempt) awaitCommit(ctx context.Context, l *link) error {
	return a.await(ctx, l, wish{wishCommit, a.id}, &wire.CommitWanted{Attempt: a.id},
		func() bool { return l.mayCommit(a.commit.Load()) })
}

// await wishes and waits until the wish has come true. A permission that was void
// by the time it was looked at is wished for again.
func (a *attempt) await(ctx context.Context, l *link, w wish, m wire.Message, granted func() bool) error {
	select {
	case <-a.nudge: // for what was not waited for
	default:
	}
	defer l.fulfilled(w)
	for !granted() {
		l.want(w, m)
		select {
		case <-a.nudge:
			if !granted() {
				l.fulfilled(w)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// finish tells the coordinator how the attempt ended.
func (w *worker) finish(a *attempt, err error, stderr string) {
	if k := a.killed(); k != nil && err != nil {
		err = k
	}
	if err != nil {
		err = w.outcome(err).AwaitPassing(a.ctx, a.id.N)
	}
	r := process.Ended(a.id, err)
	if r.Outcome == event.Failed || r.Outcome == event.Broken {
		r.Stderr = stderr
		w.log.Info("attempt failed", "attempt", a.id, "outcome", r.Outcome, "reason", r.Reason)
	}
	r.Stats, r.Counters = a.meter.Finish(), a.meter.Counters()
	if p := a.gauge.last.Load(); p != nil {
		r.Source, r.N = p.Source, p.N
		if n := a.programs.Hits(); p.Source == job.ProgressHits && n > r.N {
			r.N = n
		}
	}
	if err == nil {
		a.judgeMeasures()
	}
	a.cancel(nil)
	w.mu.Lock()
	w.link.keep(r.Bounded()) // from one to the other at once: who looks finds it running or ended
	delete(w.attempts, a.id)
	last := w.works[a.id.Job] == nil // the job was forgotten meanwhile
	for at := range w.attempts {
		last = last && at.Job != a.id.Job
	}
	w.mu.Unlock()
	w.link.told(a.id)
	if last {
		w.removeScratch(a.id.Job)
	}
}

// guard runs f and turns a panic into an error: one attempt must not take the others with it.
func (w *worker) guard(a *attempt, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("panic in an attempt", "attempt", a.id, "panic", r, "stack", string(debug.Stack()))
			err = process.Broken("berth's own fault in %s: %s", a.id, fmt.Sprint(r))
		}
	}()
	return f()
}

// command returns a program of the attempt.
func (w *worker) command(a *attempt, path string, args []string, dir string, env []string) process.Command {
	return process.Command{Path: path, Args: args, Dir: dir, Env: env, Change: a.work.change, Grace: w.cfg.Grace}
}
