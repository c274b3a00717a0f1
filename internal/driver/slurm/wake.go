package slurm

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/driver"
	"berth/internal/job"
)

// The wake-up job is a small Slurm job that is kept submitted while any job of the batch system
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

var _ driver.Guard = (*Clusters)(nil)

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

// KeepAwake has wake-up jobs kept submitted for the sake of jobs that asked for these, on each
// cluster one; nowhere else.
func (c *Clusters) KeepAwake(reqs []job.AllocRequest) {
	need := map[string]*job.AllocRequest{}
	left, _ := os.ReadDir(wakesIn(c.opts.Dir)) // there is none before the first
	for _, f := range left {
		id := f.Name()
		if id == noCluster {
			id = ""
		}
		need[id] = nil
	}
	c.mu.Lock()
	for id := range c.by {
		need[id] = nil
	}
	c.mu.Unlock()
	for i := range reqs {
		need[reqs[i].Batch.Cluster] = &reqs[i]
	}
	for id, req := range need {
		c.Of(id).KeepAwake(req)
	}
}

// GuardNote says why no wake-up job can be kept ready for a job that asked for req, empty where
// one is or none is wanted.
func (c *Clusters) GuardNote(req job.AllocRequest) string { return c.Of(req.Batch.Cluster).GuardNote() }

// KeepAwake has a wake-up job kept submitted for the sake of a job that asked for req; nil: not any more.
func (d *Driver) KeepAwake(req *job.AllocRequest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || req == nil && d.stop == nil && !d.wakesLeft() {
		return
	}
	if d.guard.need == nil {
		d.guard.since = d.opts.Now()
	}
	d.guard.asked, d.guard.need = true, req
	d.begin()
	d.nudge()
}

// GuardNote says why no wake-up job can be kept ready, empty where one is or none is wanted.
func (d *Driver) GuardNote() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.guard.note
}

// wakesIn returns the folder of all wake-up jobs, given that of the allocations; each cluster has one in it.
func wakesIn(dir string) string { return dir + "-wake" }

func (d *Driver) wakeDir() string {
	return filepath.Join(wakesIn(d.opts.Dir), cmp.Or(d.opts.Cluster, noCluster))
}

// noCluster stands for the cluster of jobs that name none.
const noCluster = "default"

// wakesLeft reports whether an earlier coordinator has left wake-up jobs.
func (d *Driver) wakesLeft() bool {
	left, err := os.ReadDir(d.wakeDir())
	return err == nil && len(left) > 0
}

// guardWants returns what the wake-up job is for and which Slurm jobs it is to wait for; ok is
// false while nothing is to be done about it. The lock is held.
func (d *Driver) guardWants(now job.Time) (need *job.AllocRequest, live []string, ok bool) {
	g := &d.guard
	if !g.asked {
		return nil, nil, false
	}
	need = g.need
	if !d.opts.Wake || d.opts.StandIn == nil || now < g.yield {
		need = nil
	}
	for _, a := range d.allocs {
		switch {
		case a.released || a.down:
		case a.job != "":
			live = append(live, a.job)
		case a.submit.failures == 0 && d.submit.failures == 0:
			return need, nil, need == nil // it is submitted in a moment, and belongs to the set
		}
	}
	slices.Sort(live)
	early := len(g.jobs) == 0 && now < g.since.Add(wakeFirst*d.opts.Poll)
	return need, live, need == nil || now >= g.try.next && !early
}

// changed reports whether the wake-up job depends on other jobs than it is to.
func (g *guard) changed(live []string) bool { return !g.known || !slices.Equal(live, g.depends) }

// guardNext returns when the wake-up job is next to be looked after. The lock is held.
func (d *Driver) guardNext(now job.Time) job.Time {
	g := &d.guard
	never := now.Add(time.Hour) // it is woken
	if !g.asked {
		return never
	}
	need, live, ok := d.guardWants(now)
	switch {
	case !ok:
		return max(g.try.next, now.Add(d.opts.RetryFirst))
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
func (d *Driver) guardDue(ctx context.Context) {
	g, now := &d.guard, d.opts.Now()
	d.mu.Lock()
	if g.asked && !g.loaded {
		g.loaded, g.jobs = true, d.loadWakes()
	}
	need, live, ok := d.guardWants(now)
	d.mu.Unlock()
	if !ok || ctx.Err() != nil {
		return
	}
	if need == nil && (len(g.jobs) == 0 || now < g.try.next) || need != nil && !g.changed(live) && now < g.next {
		return
	}
	var err error
	if need == nil {
		err = d.cancelWakes(ctx, len(g.jobs))
	} else {
		err = d.keepWake(ctx, need, live)
	}
	d.guarded(ctx, need, err)
}

// guarded takes in what came of looking after the wake-up job.
func (d *Driver) guarded(ctx context.Context, need *job.AllocRequest, err error) {
	if ctx.Err() != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	g, now := &d.guard, d.opts.Now()
	g.safe = err == nil && need != nil
	if err == nil {
		g.try.reset()
		g.next = now.Add(slowest * d.opts.Poll)
		if need != nil {
			g.note = ""
		}
		return
	}
	g.try.fail(now, d.opts.RetryFirst, d.opts.RetryMax)
	if need == nil {
		d.opts.Log.Info("a wake-up job is not cancelled", "err", err)
		return
	}
	if g.note == "" {
		d.opts.Log.Warn("no wake-up job can be kept ready", "err", err)
	}
	g.note = "nobody carries on should no coordinator and no allocation be left: Slurm takes no wake-up job: " + wordsOf(err)
}

// mayCancel reports whether an allocation may be cancelled now. The one in which this process
// runs goes last, and not before somebody is sure to carry on. The lock is held.
func (d *Driver) mayCancel(a *alloc, now job.Time) bool {
	if d.opts.Inside == "" || a.job != d.opts.Inside {
		return true
	}
	next := d.guard.safe || d.guard.need == nil
	for _, b := range d.allocs {
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

// giveWay cancels the wake-up job, as Slurm takes no allocation beside it: a limit on how many
// jobs a user may submit. The lock is held.
func (d *Driver) giveWay(now job.Time, err error) {
	g := &d.guard
	if len(g.jobs) == 0 || now < g.yield {
		return
	}
	g.yield, g.safe, g.next = now.Add(wakeYield), false, 0
	g.note = "nobody carries on should no coordinator and no allocation be left: the wake-up job made room for an allocation: " + wordsOf(err)
	d.opts.Log.Info("the wake-up job makes room for an allocation", "err", err)
	d.nudge()
}
