package slurm

import (
	"context"
	"slices"
	"time"

	"berth/internal/engine"
	"berth/internal/job"
)

// loop submits, watches and cancels until the driver is closed. It alone calls Slurm's
// commands for allocations, one after the other, and never with the lock held.
func (d *Driver) loop(ctx context.Context) {
	defer close(d.done)
	for ctx.Err() == nil {
		d.submitDue(ctx)
		d.guardDue(ctx)
		d.cancelDue(ctx)
		d.pollDue(ctx)
		timer := time.NewTimer(d.pause())
		select {
		case <-ctx.Done():
		case <-d.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
	defer cancel()
	d.finish(last)
}

// finish cancels what is to be cancelled, and waits for the end of jobs whose folders are
// to go, until ctx ends: what is left then, a later driver finds.
func (d *Driver) finish(ctx context.Context) {
	d.guardDue(ctx)
	for d.cancelDue(ctx); ctx.Err() == nil; d.cancelDue(ctx) {
		if d.due(func(a *alloc, _ job.Time) bool { return a.clear && (a.job == "" || a.job != d.opts.Inside) }) == nil {
			return
		}
		d.pollDue(ctx)
		timer := time.NewTimer(min(d.pause(), time.Second))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// pause returns how long nothing is to be done.
func (d *Driver) pause() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.Now()
	guard := d.guardNext(now)
	if len(d.allocs) == 0 {
		return max(guard.Sub(now), time.Millisecond)
	}
	next := max(d.nextPoll, 1) // 0: nothing is to be done
	if !slices.ContainsFunc(d.allocs, func(a *alloc) bool { return a.job != "" }) {
		next = 0
	}
	for _, a := range d.allocs {
		at := job.Time(0)
		switch {
		case a.released && !d.mayCancel(a, now):
			at = now.Add(d.opts.Poll)
		case a.released:
			at = a.cancel.next
		case a.job == "":
			at = max(a.submit.next, d.submit.next)
		default:
			continue
		}
		if at = max(at, 1); next == 0 || at < next {
			next = at
		}
	}
	if next == 0 || guard < next {
		next = guard
	}
	return max(next.Sub(now), time.Millisecond)
}

// due returns the first allocation of which want is true.
func (d *Driver) due(want func(a *alloc, now job.Time) bool) *alloc {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.Now()
	for _, a := range d.allocs {
		if want(a, now) {
			return a
		}
	}
	return nil
}

// forget takes an allocation out of the loop's hands, and removes its folders if that is
// wanted, beside the loop: there may be much in them. The lock is held.
func (d *Driver) forget(a *alloc) {
	d.allocs = slices.DeleteFunc(d.allocs, func(b *alloc) bool { return a == b })
	if !a.clear {
		return
	}
	d.gone.Go(func() {
		if err := d.remove(a); err != nil {
			d.opts.Log.Warn("an allocation's folder stays", "alloc", a.id, "err", err)
		}
	})
}

// note tells what an allocation waits for, unless that was the last thing told. The lock is held.
func (d *Driver) note(a *alloc, text string, start job.Time) {
	if a.released || a.down || a.note == text && a.start == start {
		return
	}
	a.note, a.start = text, start
	d.report(engine.AllocNote{Alloc: a.id, Note: text, Start: start})
}

// drop tells that an allocation is over. The lock is held.
func (d *Driver) drop(a *alloc, reason string, refuse bool) {
	if a.released || a.down {
		return
	}
	a.down = true
	d.opts.Log.Info("allocation is over", "alloc", a.id, "job", a.job, "reason", reason)
	d.report(engine.AllocDown{Alloc: a.id, Reason: reason, Refuse: refuse})
}

// clock returns an instant for people.
func clock(t job.Time) string { return t.Std().Local().Format("15:04:05") }
