package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	jobtask "berth/internal/core/job/task"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// planning is the state of a job's planning.
type planning struct {
	onWay   bool            // a plan was requested
	reason  string          // the reason of the request
	failed  string          // the reason why the last plan failed …
	retry   job.Time        // … and when the next one is requested
	cut     time.Duration   // how long tasks had run that were cut short, as known to the requested plan
	short   bool            // the last plan requested less time than the next task is expected to take
	losses  int             // losses.n as known to the requested plan
	none    string          // why no further allocation was requested, in a sentence
	useless int             // plans in a row that served the job as little as what there was, though nothing had changed meanwhile
	needs   []job.NeedsLeft // what the requested plan knew of the tasks that are left
}

const (
	// planRetry is how long a job waits for another plan after a plan without requests, and after each unproductive allocation but the first.
	planRetry = time.Minute
	// maxUnproductive is how many allocations of a job in a row may end without any of its attempts done before the job fails.
	maxUnproductive = 3
	// maxBroken is how many allocations in a row may end because their nodes cannot run berth.
	maxBroken = 5
)

// planAnew is how long after a plan that left a job's tasks without an allocation a plan is requested that counts on nothing there is.
const planAnew = 5 * time.Second

// unproductive counts the allocations of a job in a row that ended without any
// of its attempts done.
type unproductive struct {
	n    int
	up   int      // how many of them had nodes
	at   job.Time // when the last one ended …
	last string   // … and why

	early  int // how many of the last ones in a row ended before a worker of theirs started …
	broken int // … and how many of these because their nodes, or all nodes, cannot run berth; none of these is in n
}

// maxBad is the number of nodes that a job avoids because a worker could not start there: those found last.
const maxBad = 8

// planIfNeeded requests a plan of the job's remaining tasks if there is a reason for one (whyPlan).
func (e *Engine) planIfNeeded(j *jobState) {
	if !j.hasReady() || j.asked <= len(j.work.More) {
		return
	}
	pr, of := e.served(j)
	j.knew.short = min(j.knew.short, pr.short)
	why, at := e.whyPlan(j, pr, of)
	switch vain := j.unproductive.exhausted(); {
	case why == "":
	case !pr.ok && vain && j.Live > 0: // one of the running attempts may still be done
	case !pr.ok && vain:
		e.stopJob(j, event.StateFailed, job.CodeFailed, j.whyUnproductive())
	case j.plan.onWay:
	case e.awaitsHosts(j, pr):
	case j.pool.shape.Endless() && !j.work.Alloc.Remote.Away() && !(&alloc{req: j.work.Alloc}).fitsTask(of):
		e.stopJob(j, event.StateFailed, job.CodeFailed, "its allocation has no room for some of its tasks")
	case j.pool.shape.Endless(): // there is no queue to observe, so the request of the first plan is repeated for all jobs of the pool
		e.request("", j.work.Alloc)
	case e.now >= at:
		e.plan(j, why)
	}
}

// awaitsHosts reports whether tasks that have no room wait for hosts of an allocation that is there: hosts differ, and are tried until they are back.
func (e *Engine) awaitsHosts(j *jobState, pr prospect) bool {
	return j.work.Alloc.Remote.Away() && pr.short == 0 && slices.ContainsFunc(j.pool.allocs, func(a *alloc) bool { return !a.Retired })
}

// exhausted reports whether as many allocations came to nothing as a job may have.
func (b *unproductive) exhausted() bool { return b.n >= maxUnproductive || b.broken >= maxBroken }

// whyPlan returns why the job is to be planned again, and from when on it may be; empty: it is not. of are the tasks that allocations serve
// worst, and pr is what they offer those.
//
// The more of its allocations in a row were unproductive, the later it may be planned. A job that allocations serve is planned again after a
// loss, unless it is planned anyway once its scout is done, but not for each of many losses in a short time, and neither for each of many tasks
// that are added.
func (e *Engine) whyPlan(j *jobState, pr prospect, of *byNeeds) (why string, at job.Time) {
	c, soon := &j.counts[0], j.plan.retry
	if j.work.Open {
		soon = max(soon, j.Released.Add(gather))
	}
	later, grown := max(soon, j.unproductive.again()), max(soon, j.knew.replanAt(c.left()))
	if !pr.ok {
		return e.lack(j.pool, pr, of), later
	}
	if pr.good() && j.pool.shape.Endless() {
		return "", 0
	}
	if j.losses.planned != 0 {
		later = max(later, j.losses.planned.Add(planRetry))
	}
	switch {
	case j.hasGrown() && j.measured:
		return j.whyGrown(), soon
	case j.hasGrown():
		return j.whyGrown(), grown
	case j.measured:
		return fmt.Sprintf("%d of %s are done and measured", c.done, job.Count(c.total, j.of[0].Kind().String())), soon
	case j.runsOut(pr):
		return fmt.Sprintf("an allocation has too little time left for another %s", of.Kind()), grown
	case j.behind:
		return "it is behind its deadline", later
	case j.isReset():
		return "its options were changed", soon
	case j.losses.n > 0 && j.work.Scout == 0 && !j.unproductive.exhausted():
		return j.losses.reason(), later
	}
	return "", 0
}

// again returns the time before which no allocation is requested after those that came to nothing.
func (b *unproductive) again() (at job.Time) {
	if b.n > 1 {
		at = b.at.Add(time.Duration(b.n-1) * planRetry)
	}
	if b.early > 1 {
		at = max(at, b.at.Add(min(time.Second<<min(b.early-1, 30), planRetry)))
	}
	return at
}

// planDeadlines offers the times at which a job is considered for planning again.
func (e *Engine) planDeadlines(j *jobState, offer func(job.Time)) {
	if !j.hasReady() {
		return
	}
	pr, of := e.served(j)
	if !j.plan.onWay {
		if why, at := e.whyPlan(j, pr, of); why != "" {
			offer(at)
		}
	}
	if pr.ok && pr.until != 0 {
		offer(pr.until + 1)
	}
	if pr.ok && pr.first != 0 && j.mayGrow() {
		offer(pr.first + 1)
	}
}

// lack returns what the tasks lack, as the reason of a plan.
func (e *Engine) lack(p *pool, pr prospect, of *byNeeds) string {
	switch {
	case pr.short > 0:
		return fmt.Sprintf("no allocation has the %[2]s left that another %[1]s needs", of.Kind(), job.FormatDuration(of.span.Round(time.Second)))
	case len(p.allocs) > 0:
		return "no allocation has large enough nodes"
	}
	return "no allocation is left"
}

// plan requests a plan of the remaining tasks of the job.
func (e *Engine) plan(j *jobState, reason string) {
	rest := e.remaining(j)
	pr, _ := e.served(j)
	j.knew.at, j.knew.left, j.knew.all, j.knew.short = e.now, j.counts[0].left(), j.counts[0].left(), pr.short
	j.plan = planning{onWay: true, reason: reason, cut: rest.CutShort, short: j.plan.short, losses: j.losses.n, useless: j.plan.useless}
	j.plan.needs, rest.Anew = rest.Needs, j.plan.useless == 1
	e.do(step.Plan{Job: j.ID, Reason: reason, Remaining: rest})
}

// remaining returns the remaining tasks and the allocations of the job, without those that are being given back.
func (e *Engine) remaining(j *jobState) job.Remaining {
	r := job.Remaining{Tasks: j.counts[0].left(), Reduces: j.counts[1].left(), CutShort: j.longest(), Kept: j.keptWork(), StartUp: time.Duration(j.pool.startUp)}
	if blocked := j.counts[0].blocked; blocked > 0 {
		r.Width, r.Path = jobtask.Extent(r.Tasks-blocked, j.order.behind, j.order.left)
	}
	for _, t := range j.of {
		r.Needs = append(r.Needs, job.NeedsLeft{Needs: t.needs, Waiting: t.left() - t.running, Running: t.running, Span: t.span, CutShort: t.Left.Longest})
	}
	for t := range j.next {
		r.Span = max(r.Span, t.span)
		r.Needs[slices.Index(j.of, t)].Unserved = !e.offered(j.pool, t).ok
	}
	for _, a := range j.live {
		if a != nil && a.Kind == job.BagTask {
			n := &r.Needs[j.needsIndex(a.ID.Task)]
			n.Ages = append(n.Ages, max(0, e.now.Sub(a.Working)))
		}
	}
	for _, a := range j.pool.allocs {
		if !a.Retired {
			r.Live = append(r.Live, a.asLive())
		}
	}
	return r
}

// planned handles the plan of the remaining tasks of a job.
func (e *Engine) planned(in step.Planned) {
	j := e.jobs[in.Job]
	if j == nil || !j.plan.onWay {
		return
	}
	was := j.plan
	j.plan = planning{}
	if !j.active() || j.pool == nil { // there is nothing left to plan
		return
	}
	e.touchAllocs()
	switch {
	case in.Failed != "":
		e.unplanned(j, in)
		return
	case j.losses.n > was.losses:
		return // it counts on an allocation that was lost meanwhile
	}
	if slices.ContainsFunc(in.Allocs, func(r job.AllocRequest) bool { return job.ShapeOf(r) != j.pool.shape || r.Nodes < 1 }) {
		e.replan(j, "the plan requests other allocations than the job runs on", in.Retry)
		return
	}
	r := event.JobPlanned{Job: in.Job, Scout: in.Scout, Decision: in.Decision, Turnaround: in.Turnaround, TaskTimes: in.TaskTimes}
	short, most := j.tooShort(in, was.cut)
	if short && was.short {
		r.Most = most
	}
	e.emit(r)
	if !j.hasReady() {
		return
	}
	if of, why := e.unserved(j, in.Allocs); of != nil {
		e.uselessPlan(j, &was, in, of, why)
		if j.plan.short = short; short && !was.short && j.plan.failed != "" { // the next plan shows whether there is no more time
			j.plan.retry = e.now.Add(planAnew)
		}
		return
	}
	e.requestPlanned(j, in)
}

// uselessPlan handles a plan that leaves tasks unserved. If something served them when it was requested, the job is planned again at once. A
// plan without requests is followed by one that counts on nothing there is, once, and that by others as after any plan that failed.
func (e *Engine) uselessPlan(j *jobState, was *planning, in step.Planned, of []*byNeeds, why string) {
	known := func(t *byNeeds) bool {
		i := slices.Index(j.of, t)
		return i < len(was.needs) && was.needs[i].Unserved
	}
	at := job.Time(0)
	switch {
	case !slices.ContainsFunc(of, known):
		return
	case len(in.Allocs) == 0 && was.useless == 0:
		at = e.now.Add(planAnew)
	}
	e.replan(j, "no request of the plan serves the job: "+why, at)
	if len(in.Allocs) == 0 {
		j.plan.useless = was.useless + 1
	}
}

// requestPlanned requests the allocations of a plan.
func (e *Engine) requestPlanned(j *jobState, in step.Planned) {
	for _, r := range in.Allocs {
		e.request(j.ID, r)
	}
	j.knew.vain++
	if len(in.Allocs) > 0 {
		j.knew.vain = 0
	}
	if len(in.Allocs) == 0 && in.Decision != "" {
		j.plan.none = explain.With("the last plan: %s", in.Decision)
	}
}

// unserved returns the job's tasks that no allocation serves, and what they lack, if none of the requests serves any of these, else nothing.
func (e *Engine) unserved(j *jobState, requests []job.AllocRequest) (of []*byNeeds, lack string) {
	for t := range j.next {
		pr := e.offered(j.pool, t)
		if pr.ok {
			continue
		}
		for _, r := range requests {
			pr.addOffer(&alloc{req: r}, j.pool, t, e.now)
		}
		if pr.ok {
			return nil, ""
		}
		of, lack = append(of, t), cmp.Or(lack, e.lack(j.pool, pr, t))
	}
	return of, lack
}

// tooShort reports whether a plan that knew of all tasks that were cut short leaves less time than
// the job's next task is expected to take, and returns the longest time that it leaves. If the next
// plan does so as well, no more time is available, and the task is tried in that time: repeated
// unproductive allocations end the job, while repeated plans would never end.
func (j *jobState) tooShort(in step.Planned, knew time.Duration) (short bool, most time.Duration) {
	if j.longest() > knew {
		return false, 0
	}
	for _, r := range in.Allocs {
		if most = max(most, r.Time-j.pool.startUp.Of(r)); r.Time == 0 {
			return false, 0
		}
	}
	for like := range j.next {
		t := like.Left.Times
		if hint := in.Upper()[sched.KindIndex(like.Kind())]; hint > 0 {
			t.Hint = hint
		}
		t.Most = 0
		span := t.Span(like.Begin.Ready.CutOnly())
		if j.work.Requeues {
			span = j.saveSpan()
		}
		short = short || most > 0 && span > most
	}
	return short, most
}

// unplanned handles that a plan failed. The job fails if there is no time for
// another plan, unless it can continue without one.
func (e *Engine) unplanned(j *jobState, in step.Planned) {
	switch {
	case in.Retry != 0:
		e.replan(j, in.Failed, in.Retry)
	case e.isServed(j):
		e.emit(event.JobPlanned{Job: j.ID, Decision: "continues without a plan, as planning failed: " + in.Failed})
	default:
		e.stopJob(j, event.StateFailed, job.CodeFailed, "planning the remaining tasks failed: "+in.Failed)
	}
}

// replan requests another plan at that time, or after planRetry if the time is 0.
func (e *Engine) replan(j *jobState, why string, at job.Time) {
	if at <= e.now {
		at = e.now.Add(planRetry)
	}
	j.plan = planning{failed: why, retry: at}
}

func (j *jobState) applyPlanned(at job.Time, r event.JobPlanned) {
	j.work.Scout, j.losses, j.reset = r.Scout, losses{planned: at}, false
	for _, t := range j.of {
		if d := r.Upper()[sched.KindIndex(t.Kind())]; d > 0 {
			t.Left.Hint = d
		}
		t.Left.Most = r.Most
	}
	j.setMeans(r.TaskTimes)
}

// countAlloc counts the end of an allocation of the job. If an attempt of the job was
// done while it was up, the count starts again.
func (j *jobState) countAlloc(a *alloc, at job.Time, r event.AllocEnded) {
	if r.Bad != "" {
		j.bad = append(slices.DeleteFunc(slices.Clone(j.bad), func(h string) bool { return h == r.Bad }), r.Bad)
		j.bad = j.bad[max(0, len(j.bad)-maxBad):]
	}
	if a.hasBegun() && j.dones > a.mark || r.How == event.EndRefused {
		return
	}
	b := &j.unproductive
	b.at, b.last = at, r.Reason
	switch {
	case r.How == event.EndBroken:
		b.early++
		b.broken++
	case r.How == event.EndTaken && a.joined == 0:
		b.early++
	default:
		b.n++
		b.early, b.broken = 0, 0
		if a.joined > 0 {
			b.up++
		}
	}
}

// whyUnproductive returns why a job with unproductive allocations fails, and what to do.
func (j *jobState) whyUnproductive() string {
	b, cut := &j.unproductive, j.longest()
	last := ""
	if b.last != "" {
		last = " (the last: " + b.last + ")"
	}
	switch {
	case b.n == 0:
		return fmt.Sprintf("the nodes of %d allocations in a row could not run berth%s", b.broken, last)
	case b.up == 0:
		return fmt.Sprintf("%d allocations in a row ended before any of their nodes came up%s: can nodes of the cluster run berth and reach this machine?", b.n, last)
	case cut > 0:
		return fmt.Sprintf("%d allocations in a row ended without any task done%s; one task had run for %s: allow more time (--time, --max-time)",
			b.n, last, job.FormatDuration(cut.Round(time.Second)))
	}
	return fmt.Sprintf("%d allocations in a row ended without any task done%s", b.n, last)
}
