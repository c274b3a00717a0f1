package engine

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/step"
)

// planning is how the plan of what is left of a job stands.
type planning struct {
	onWay  bool          // it was asked for
	reason string        // why
	failed string        // why the last one came to nothing …
	retry  job.Time      // … and when another is asked for
	cut    time.Duration // how long tasks had run that were cut short, as far as it knows
	short  bool          // the last one asked for less time than the next task takes, as far as is known
}

// unproductive counts the allocations in a row that were asked for a job and ended without any
// of its attempts done.
type unproductive struct {
	n    int
	up   int      // of those: that had nodes
	at   job.Time // when the last ended …
	last string   // … and why
}

// planIfNeeded has what is left of a job planned anew where no allocation serves it, or when
// enough tasks have shown how long they take.
func (e *Engine) planIfNeeded(j *jobState) {
	_, ready := j.waits.next()
	if !ready || j.asked <= len(j.work.More) {
		return
	}
	pr := e.served(j)
	switch {
	case pr.ok && !j.waits.scout:
	case !pr.ok && j.unproductive.n >= e.cfg.MaxUnproductive && j.Live > 0: // one of those may be done yet
	case !pr.ok && j.unproductive.n >= e.cfg.MaxUnproductive:
		e.stop(j, event.StateFailed, job.CodeFailed, j.whyUnproductive())
	case j.plan.onWay:
	case j.pool.shape.Endless(): // there is no queue to look at: it is asked for what it was at first, for all jobs of the pool
		e.request("", j.work.Alloc)
	case e.now < e.planAfter(j, pr):
	case pr.ok:
		c := &j.counts[0]
		e.plan(j, fmt.Sprintf("%d of %s done: they have shown how long one takes", c.done, job.Number(c.total, j.Begin[0].Kind.String())))
	default:
		e.plan(j, e.lack(j, pr))
	}
}

// planAfter returns when the job may be planned. Where its allocations come to nothing
// again and again that is the later the more did.
func (e *Engine) planAfter(j *jobState, pr prospect) job.Time {
	at := j.plan.retry
	if b := &j.unproductive; !pr.ok && b.n > 1 {
		at = max(at, b.at.Add(time.Duration(b.n-1)*e.cfg.PlanRetry))
	}
	return at
}

// planDeadlines offers the times at which a job is to be considered again.
func (e *Engine) planDeadlines(j *jobState, offer func(job.Time)) {
	if _, ready := j.waits.next(); !ready {
		return
	}
	pr := e.served(j)
	if !j.plan.onWay && (!pr.ok || j.waits.scout) {
		offer(e.planAfter(j, pr))
	}
	if pr.ok && pr.until != 0 {
		offer(pr.until + 1)
	}
}

// lack says what the job lacks.
func (e *Engine) lack(j *jobState, pr prospect) string {
	switch {
	case pr.short:
		class, _ := j.waits.next()
		return fmt.Sprintf("no allocation has time for another %s, which needs %s", j.Begin[class].Kind, job.FormatDuration(j.waits.span[class].Round(time.Second)))
	case len(j.pool.allocs) > 0:
		return "no allocation has nodes that are large enough"
	}
	return "no allocation is left"
}

// plan asks for a plan of what is left of the job.
func (e *Engine) plan(j *jobState, reason string) {
	rest := e.rest(j)
	j.plan = planning{onWay: true, reason: reason, cut: rest.CutShort, short: j.plan.short}
	rest.StartUp = time.Duration(j.pool.startUp)
	if class, ready := j.waits.next(); ready {
		rest.Span = j.waits.span[class]
	}
	e.do(step.Plan{Job: j.work.ID, Reason: reason, Rest: rest})
}

// rest returns what is left of the job.
func (e *Engine) rest(j *jobState) job.Rest {
	left := func(c counts) int { return c.total - c.done - c.failed }
	r := job.Rest{Tasks: left(j.counts[0]), Reduces: left(j.counts[1]), CutShort: max(j.Left[0].Longest, j.Left[1].Longest)}
	for _, a := range j.pool.allocs {
		r.Live = append(r.Live, a.asLive())
	}
	return r
}

// planned takes in the plan of what is left of a job.
func (e *Engine) planned(in step.Planned) {
	j := e.jobs[in.Job]
	if j == nil || !j.plan.onWay {
		return
	}
	was := j.plan
	j.plan = planning{}
	if !j.active() {
		return
	}
	e.touchAllocs()
	if in.Failed != "" {
		e.unplanned(j, in)
		return
	}
	if slices.ContainsFunc(in.Allocs, func(r job.AllocRequest) bool { return job.ShapeOf(r) != j.pool.shape || r.Nodes < 1 }) {
		e.replan(j, "the plan asks for other allocations than the job runs on", in.Retry)
		return
	}
	r := event.JobPlanned{Job: in.Job, Scout: in.Scout, Decision: in.Decision, TaskTimes: in.TaskTimes}
	short, most := j.tooShort(in, was.cut)
	if short && was.short {
		r.Most = most
	}
	e.emit(r)
	e.requestPlanned(j, in, short)
}

// requestPlanned asks for what a plan says, unless that would not serve the job's next task either.
// short says that it leaves less time than that task is expected to take.
func (e *Engine) requestPlanned(j *jobState, in step.Planned, short bool) {
	class, ready := j.waits.next()
	if !ready {
		return
	}
	pr := e.served(j)
	for _, r := range in.Allocs {
		pr.ask(&alloc{req: r}, j, class, e.now)
	}
	if !pr.ok {
		e.replan(j, "nothing that the plan asks for serves the job: "+e.lack(j, pr), in.Retry)
		j.plan.short = short
		return
	}
	for _, r := range in.Allocs {
		e.request(j.work.ID, r)
	}
}

// tooShort reports whether a plan that knew of all that was cut short leaves less time than
// the job's next task is expected to take, and returns the most that it leaves. If the next
// plan does so too there is no more to be had, and the task is tried in that time:
// allocations that come to nothing end the job, plans that do would go on for ever.
func (j *jobState) tooShort(in step.Planned, knew time.Duration) (short bool, most time.Duration) {
	class, ready := j.waits.next()
	if !ready || max(j.Left[0].Longest, j.Left[1].Longest) > knew {
		return false, 0
	}
	for _, r := range in.Allocs {
		if most = max(most, r.Time-j.pool.startUp.Of(r)); r.Time == 0 {
			return false, 0
		}
	}
	t := j.Left[class].Times
	if hint := in.Upper()[class]; hint > 0 {
		t.Hint = hint
	}
	t.Most = 0
	return most > 0 && t.Span(j.Begin[class].Ready.CutOnly()) > most, most
}

// unplanned takes in that no plan could be made. Without a time at which one may be the
// job fails, unless it can go on as it is.
func (e *Engine) unplanned(j *jobState, in step.Planned) {
	switch {
	case in.Retry != 0:
		e.replan(j, in.Failed, in.Retry)
	case e.served(j).ok:
		e.emit(event.JobPlanned{Job: j.work.ID, Decision: "goes on as it is: no plan could be made: " + in.Failed})
	default:
		e.stop(j, event.StateFailed, job.CodeFailed, "what is left could not be planned: "+in.Failed)
	}
}

// replan has a plan asked for again, at that time or after a while.
func (e *Engine) replan(j *jobState, why string, at job.Time) {
	if at <= e.now {
		at = e.now.Add(e.cfg.PlanRetry)
	}
	j.plan = planning{failed: why, retry: at}
}

func (e *Engine) applyPlanned(r event.JobPlanned) {
	j := e.jobs[r.Job]
	if j == nil || j.state.Final() {
		return
	}
	j.work.Scout = r.Scout
	for i, d := range r.Upper() {
		if d > 0 {
			j.Left[i].Hint = d
		}
		j.Left[i].Most = r.Most
	}
	j.setMeans(r.TaskTimes)
	e.enqueue(j)
	e.touchAllocs()
}

// count takes in that an allocation of the job is over; attempts of the job that were
// done while it was up make up for all before.
func (j *jobState) count(a *alloc, at job.Time, reason string) {
	if a.up() && j.dones > a.mark {
		return
	}
	b := &j.unproductive
	b.n++
	if a.joined > 0 {
		b.up++
	}
	b.at, b.last = at, reason
}

// whyUnproductive says why a job fails whose allocations came to nothing, and what to do.
func (j *jobState) whyUnproductive() string {
	b, cut := &j.unproductive, max(j.Left[0].Longest, j.Left[1].Longest)
	last := ""
	if b.last != "" {
		last = " (the last: " + b.last + ")"
	}
	switch {
	case b.up == 0:
		return fmt.Sprintf("%d allocations in a row ended before any of their nodes came up%s: can nodes of the cluster run berth and reach this machine?", b.n, last)
	case cut > 0:
		return fmt.Sprintf("%d allocations in a row ended without any task done%s; one task had run for %s: give it more time (--time, --max-time)",
			b.n, last, job.FormatDuration(cut.Round(time.Second)))
	}
	return fmt.Sprintf("%d allocations in a row ended without any task done%s", b.n, last)
}
