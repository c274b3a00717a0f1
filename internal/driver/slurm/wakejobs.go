package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/internal/job"
)

// Slurm's commands for wake-up jobs. The driver's loop calls them, one after the other.

// loadWakes returns the wake-up jobs that earlier coordinators have left.
func (d *Driver) loadWakes() []*alloc {
	folders, _ := os.ReadDir(d.wakeDir()) // there is none before the first
	var left []*alloc
	for _, f := range folders {
		a := &alloc{id: job.AllocID(f.Name()), dir: filepath.Join(d.wakeDir(), f.Name())}
		a.job, a.maybe = a.noted()
		if script, _ := a.script(); script == "" && a.job == "" { // it was never submitted
			_ = os.RemoveAll(a.dir)
			continue
		}
		left = append(left, a)
	}
	slices.SortFunc(left, func(a, b *alloc) int { return wakeNumber(a.id) - wakeNumber(b.id) })
	return left
}

// wakeNumber returns the number in the name of a wake-up job, 0 where it is none.
func wakeNumber(id job.AllocID) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(id), "w"))
	return n
}

// keepWake sees to it that one wake-up job is pending which waits for those jobs.
func (d *Driver) keepWake(ctx context.Context, need *job.AllocRequest, live []string) error {
	g := &d.guard
	if n := len(g.jobs); n > 0 && g.jobs[n-1].job != "" {
		w, err := d.wakeState(ctx, g.jobs[n-1])
		if err != nil {
			return err
		}
		if isPending(w.state) && w.state != "CONFIGURING" {
			err := d.putOff(ctx, g.jobs[n-1], live)
			if err == nil {
				return d.cancelWakes(ctx, n-1)
			}
			if job.ClassOf(err) == job.Transient {
				return err
			}
			d.opts.Log.Info("a wake-up job cannot be changed; another takes its place", "job", g.jobs[n-1].job, "err", err)
		}
	}
	if err := d.submitWake(ctx, need, live); err != nil {
		return err
	}
	return d.cancelWakes(ctx, len(g.jobs)-1)
}

// wakeState returns how a wake-up job is; its state is empty where Slurm does not know it any more.
func (d *Driver) wakeState(ctx context.Context, a *alloc) (watched, error) {
	rows, err := d.client().table(ctx, watchFields, "--me", "--states=all", "--jobs="+a.job)
	if err != nil && !errors.Is(err, errGone) {
		return watched{}, err
	}
	return parseWatched(rows)[a.job], nil
}

// putOff has a pending wake-up job wait for those jobs, or for a while where there are none.
func (d *Driver) putOff(ctx context.Context, a *alloc, live []string) error {
	g, now := &d.guard, d.opts.Now()
	changed := g.changed(live)
	if !changed && (len(live) > 0 || now < g.pushed.Add(wakePush)) {
		return nil
	}
	begin := "now"
	if len(live) == 0 {
		begin = "now+" + strconv.Itoa(int(wakeDelay.Seconds()))
	}
	args := []string{"update", "JobId=" + a.job, "StartTime=" + begin}
	if changed {
		args = append(args, "Dependency="+afterAny(live))
	}
	if _, err := d.client().run(ctx, "scontrol", args...); err != nil {
		return err
	}
	g.depends, g.known, g.pushed = live, true, now
	return nil
}

// afterAny returns the dependency on the end of all those jobs, empty for none.
func afterAny(live []string) string {
	if len(live) == 0 {
		return ""
	}
	return "afterany:" + strings.Join(live, ":")
}

// submitWake submits a wake-up job that waits for those jobs, or for a while where there are
// none. What an earlier coordinator began to submit is gone on with.
func (d *Driver) submitWake(ctx context.Context, need *job.AllocRequest, live []string) error {
	g := &d.guard
	a := d.unsubmitted()
	if a == nil {
		last := job.AllocID("w0")
		if n := len(g.jobs); n > 0 {
			last = g.jobs[n-1].id
		}
		a = &alloc{id: job.AllocID(fmt.Sprintf("w%d", wakeNumber(last)+1))}
		a.dir = filepath.Join(d.wakeDir(), string(a.id))
		if err := d.prepareWake(a); err != nil {
			return err
		}
		g.jobs = append(g.jobs, a)
	}
	a.req = wakeRequest(need)
	a.extra = []string{"--begin=now+" + strconv.Itoa(int(wakeDelay.Seconds()))}
	if len(live) > 0 {
		a.extra = []string{"--dependency=" + afterAny(live)}
	}
	id, err := d.place(ctx, a)
	a.maybe = err != nil
	if err != nil {
		return err
	}
	a.job = id
	g.depends, g.known, g.pushed = live, true, d.opts.Now()
	d.opts.Log.Info("a wake-up job is submitted", "job", id, "after", live)
	return nil
}

// unsubmitted returns the last wake-up job where its submission is not known to have come to
// anything, else nil.
func (d *Driver) unsubmitted() *alloc {
	if n := len(d.guard.jobs); n > 0 && d.guard.jobs[n-1].job == "" {
		return d.guard.jobs[n-1]
	}
	return nil
}

// cancelWakes cancels the first n wake-up jobs, but for the one that this process is part of:
// that ends with it.
func (d *Driver) cancelWakes(ctx context.Context, n int) error {
	g := &d.guard
	var keep []*alloc
	var failed error
	for i, a := range g.jobs {
		if i >= n {
			keep = append(keep, a)
			continue
		}
		if err := d.cancelWake(ctx, a); err != nil {
			keep, failed = append(keep, a), err
		}
	}
	g.jobs = keep
	if len(keep) == 0 {
		g.known = false
	}
	return failed
}

func (d *Driver) cancelWake(ctx context.Context, a *alloc) error {
	if a.job == "" {
		over, err := d.withdraw(ctx, a)
		if err != nil || !over && a.job == "" {
			return errors.Join(err, errSubmitting)
		}
	} else if a.job != d.opts.Inside {
		if _, err := d.client().run(ctx, "scancel", a.job); err != nil && !errors.Is(err, errGone) {
			return err
		}
	}
	if err := os.RemoveAll(a.dir); err != nil {
		d.opts.Log.Warn("the folder of a wake-up job stays", "dir", a.dir, "err", err)
	}
	return nil
}

// wakeIDs returns the ids of the user's wake-up jobs in the queue, but for the one that this
// process is part of.
func (d *Driver) wakeIDs(ctx context.Context, c client) (map[string]bool, error) {
	rows, err := c.table(ctx, []string{"JobID"}, "--me", "--name="+WakeName)
	ids := map[string]bool{}
	for _, f := range rows {
		if f[0] != d.opts.Inside {
			ids[f[0]] = true
		}
	}
	return ids, err
}
