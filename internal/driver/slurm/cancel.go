package slurm

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"berth/internal/job"
)

// cancelAgain is how long a cancelled job may take to end before it is cancelled again.
const cancelAgain = time.Minute

// cancelDue cancels what is to be cancelled now.
func (d *Driver) cancelDue(ctx context.Context) {
	for ctx.Err() == nil {
		a := d.due(func(a *alloc, now job.Time) bool { return a.released && now >= a.cancel.next && d.mayCancel(a, now) })
		if a == nil {
			return
		}
		over, err := d.withdraw(ctx, a)
		d.withdrawn(a, over, err)
	}
}

// withdraw cancels an allocation's job. over says that there is none.
func (d *Driver) withdraw(ctx context.Context, a *alloc) (over bool, err error) {
	if a.job == "" {
		f, busy, err := a.lockJobFile()
		if err != nil || busy {
			return errors.Is(err, fs.ErrNotExist), err
		}
		defer func() { _ = f.Close() }()
		id, _ := a.noted()
		script, _ := a.script()
		if id == "" && a.maybe && script != "" {
			if id, err = d.lookUp(ctx, script); err != nil {
				return false, err
			}
		}
		if id == "" {
			return true, nil
		}
		d.mu.Lock()
		a.job = id
		d.mu.Unlock()
	}
	_, err = d.client().run(ctx, "scancel", a.job)
	if errors.Is(err, errGone) {
		return false, nil // a poll tells whether it is
	}
	return false, err
}

// withdrawn takes in what came of a cancellation.
func (d *Driver) withdrawn(a *alloc, over bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.Now()
	switch {
	case over:
		if err != nil {
			d.opts.Log.Warn("an allocation's folder cannot be read", "alloc", a.id, "err", err)
		}
		d.forget(a)
	case errors.Is(err, context.Canceled): // the driver is closing; finish tries once more
	case err != nil:
		a.cancel.fail(now, d.opts.RetryFirst, d.opts.RetryMax)
		d.opts.Log.Warn("a job is not cancelled", "alloc", a.id, "job", a.job, "err", err)
	case a.job == "": // a submission is under way
		a.cancel.fail(now, d.opts.RetryFirst, d.opts.RetryMax)
	default:
		a.cancel.next = now.Add(cancelAgain)
		d.nextPoll = min(d.nextPoll, now.Add(min(d.opts.Poll, soonAfter)))
		d.opts.Log.Info("allocation is cancelled", "alloc", a.id, "job", a.job)
	}
}
