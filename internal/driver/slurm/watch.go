package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/engine"
	"berth/internal/job"
)

// slowest is how many times seldomer than Options.Poll jobs are looked at while nothing is
// expected to change for long.
const slowest = 6

// pollDue looks at all jobs, if it is time to.
func (d *Driver) pollDue(ctx context.Context) {
	d.mu.Lock()
	ids := make([]string, 0, len(d.allocs))
	for _, a := range d.allocs {
		if a.job != "" {
			ids = append(ids, a.job)
		}
	}
	due := d.opts.Now() >= d.nextPoll
	d.mu.Unlock()
	if len(ids) == 0 || !due {
		return
	}
	rows, err := d.client().table(ctx, watchFields, "--me", "--states=all", "--jobs="+strings.Join(ids, ","))
	if ctx.Err() != nil {
		return
	}
	if err != nil && !errors.Is(err, errGone) {
		d.unanswered(err)
		return
	}
	jobs := parseWatched(rows)
	d.take(ids, jobs, d.explain(ctx, ids, jobs))
}

// unanswered takes in that a look failed: nobody knows how the jobs are, so none is given up.
func (d *Driver) unanswered(err error) {
	d.mu.Lock()
	defer d.unlock()
	now := d.opts.Now()
	if d.away == 0 {
		d.away = now
		d.opts.Log.Warn("jobs cannot be watched", "err", err)
	}
	d.poll.fail(now, d.opts.Poll, slowest*d.opts.Poll)
	d.nextPoll = d.poll.next
	for _, a := range d.allocs {
		d.note(a, "the Slurm controller does not answer since "+clock(d.away)+": "+wordsOf(err), a.start)
	}
}

// take takes in how the jobs are. why tells, of those that ended, why they did.
func (d *Driver) take(ids []string, jobs map[string]watched, why map[string]end) {
	d.mu.Lock()
	defer d.unlock()
	now := d.opts.Now()
	if d.away != 0 {
		d.opts.Log.Info("the Slurm controller answers again")
		d.away = 0
		d.submit.next = 0
	}
	d.poll.reset()
	for _, a := range slices.Clone(d.allocs) {
		if !slices.Contains(ids, a.job) {
			continue
		}
		w, known := jobs[a.job]
		if e, ended := why[a.job]; ended {
			d.drop(a, e.reason, e.refuse)
		}
		if !known || isOver(w.state) {
			d.forget(a)
			continue
		}
		d.observe(a, w)
		a.looks = max(a.looks-1, 0)
	}
	d.lastPoll = now
	d.nextPoll = now.Add(d.interval(d.wall()))
}

// observe takes in how a live job is. The lock is held.
func (d *Driver) observe(a *alloc, w watched) {
	switch {
	case w.state == "COMPLETING":
		a.next = 0
	case w.state == "CONFIGURING":
		d.note(a, "its nodes are being started", w.start)
	case isPending(w.state) && neverStarts(w.reason):
		d.drop(a, "Slurm will not start its job: "+reasonWords(w.reason), true)
		a.released = true
	case isPending(w.state):
		a.up, a.next = false, w.start
		d.note(a, "Slurm job "+a.job+" waits: "+reasonWords(w.reason), w.start)
	case w.state == "RUNNING":
		d.running(a, w)
	default:
		d.note(a, "Slurm job "+a.job+" is "+strings.ToLower(w.state), 0)
	}
}

// running takes in that a job runs, until when and where. The lock is held.
func (d *Driver) running(a *alloc, w watched) {
	a.next, a.note = w.end, ""
	if w.end == 0 {
		a.next = d.wall().Add(24 * time.Hour)
	}
	if a.released || a.down {
		return
	}
	if !a.up || a.ends != w.end {
		a.up, a.ends = true, w.end
		d.report(engine.AllocUp{Alloc: a.id, Ends: w.end})
	}
	names, err := expandHosts(w.nodes)
	if err != nil || len(names) == 0 || len(names) >= a.req.Nodes {
		return
	}
	// Slurm takes nodes that fail out of a job that goes on without (--no-kill).
	for rank := range a.req.Nodes {
		if host := a.host(rank); host != "" && !slices.Contains(names, host) && !a.lost[rank] {
			if a.lost == nil {
				a.lost = map[int]bool{}
			}
			a.lost[rank] = true
			d.report(engine.NodeDown{Node: a.id.Node(rank), Gone: true, Reason: "Slurm took node " + host + " out of its job: it failed"})
		}
	}
}

// quickLooks is how many looks follow each other soon once a worker has gone. Slurm may take some
// seconds to say that a job has ended after its workers were told to end.
const quickLooks = 10

// Look asks for the allocation's job soon: one whose workers have gone was probably cancelled, and
// otherwise that would be noticed at the next regular look only.
func (d *Driver) Look(id job.AllocID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.find(id)
	if a == nil || a.job == "" || a.released || a.down {
		return
	}
	a.looks = quickLooks
	d.nextPoll = min(d.nextPoll, max(d.lastPoll.Add(d.soon()), d.opts.Now()))
	d.nudge()
}

// soon returns the time between two looks while something is known to change.
func (d *Driver) soon() time.Duration { return min(d.opts.Poll, soonAfter) }

// interval returns when to look again: soon while something is about to change, seldom
// while the next change that is expected is far away. The lock is held.
func (d *Driver) interval(now job.Time) time.Duration {
	wait := slowest * d.opts.Poll
	for _, a := range d.allocs {
		if a.looks > 0 {
			return d.soon()
		}
		left := time.Duration(0)
		if a.next > now && !a.released {
			left = a.next.Sub(now) / 20
		}
		wait = min(wait, max(left, d.opts.Poll))
	}
	return wait
}

// end is why a job ended.
type end struct {
	reason string
	refuse bool
}

// explain finds out why jobs ended that did, or are ending where that is told. Those that
// berth cancelled need no reason.
func (d *Driver) explain(ctx context.Context, ids []string, jobs map[string]watched) map[string]end {
	d.mu.Lock()
	var over []*alloc
	for _, a := range d.allocs {
		w, known := jobs[a.job]
		if slices.Contains(ids, a.job) && (!known || isOver(w.state) || w.state == "COMPLETING") && !a.down && !a.released && !a.untold(w, d.opts.Now()) {
			over = append(over, a)
		}
	}
	d.mu.Unlock()
	why := map[string]end{}
	for _, a := range over {
		w, known := jobs[a.job]
		if !known {
			w = d.account(ctx, a)
		}
		e := ended(a, w, d.wall())
		e.reason = fmt.Sprintf("Slurm job %s: %s", a.job, e.reason)
		why[a.job] = e
	}
	return why
}
