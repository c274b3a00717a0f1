package engine

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

const (
	// mostExchanges bounds the exchanges of a job since it was submitted or resumed: each of them costs a place in the queue.
	mostExchanges = 3
	// reviewEvery is the time between two plans that may exchange the requests of a job, and the least age of these.
	reviewEvery = 2 * time.Minute
	// exchangeEvery is the least time between two exchanges of a job.
	exchangeEvery = 5 * time.Minute
	// soon is how long before its expected start a request is no longer exchanged.
	soon = 2 * time.Minute
	// acceptWithin is how long the batch system has to accept new requests before the exchange is undone.
	acceptWithin = 2 * time.Minute
)

// exchange is the exchange of waiting requests of a job for others. The new requests are made first. The old ones are given back once
// the batch system has accepted all new ones. If an old one begins before, or a new one ends, the new ones are given back instead. So
// the job has requests at any time, whatever the batch system refuses and whenever the coordinator dies.
type exchange struct {
	old, new []job.AllocID // that are not over, while an exchange is under way
	parts    int           // how many new requests it has
	n        int           // exchanges since the job was submitted or resumed
	at       job.Time      // when the last one began
}

// apply applies that a request was made.
func (x *exchange) apply(at job.Time, r *event.AllocRequested, allocs map[job.AllocID]*alloc) {
	if len(r.Instead) == 0 {
		return
	}
	if x.at != at {
		x.n, x.at, x.new, x.old = x.n+1, at, nil, nil
		for _, id := range r.Instead {
			if allocs[id] != nil {
				x.old = append(x.old, id)
			}
		}
	}
	if x.parts = r.Beside + 1; len(x.old) > 0 {
		x.new = append(x.new, r.Alloc)
	}
}

// end applies that an allocation of the job is over.
func (x *exchange) end(id job.AllocID) {
	same := func(b job.AllocID) bool { return id == b }
	x.old, x.new = slices.DeleteFunc(x.old, same), slices.DeleteFunc(x.new, same)
	if len(x.old) == 0 || len(x.new) == 0 {
		x.old, x.new = nil, nil
	}
}

// underWay reports whether old and new requests are there.
func (x *exchange) underWay() bool { return len(x.new) > 0 }

// tries reports whether a request is one of the new ones while the old ones are there, so that nothing is lost with it.
func (x *exchange) tries(a *alloc) bool { return !a.up() && slices.Contains(x.new, a.id) }

// updateExchange completes or undoes an exchange that is under way.
func (e *Engine) updateExchange(j *jobState) {
	x := &j.exchange
	if !x.underWay() {
		return
	}
	accepted := func(id job.AllocID) bool { return e.allocs[id].up() || e.allocs[id].queued }
	begun := slices.IndexFunc(x.old, func(id job.AllocID) bool { return e.allocs[id].up() })
	switch {
	case begun >= 0:
		e.undoExchange(x, fmt.Sprintf("allocation %s has begun, which it was to replace", x.old[begun]))
	case len(x.new) != x.parts:
		e.undoExchange(x, "a request that was made with it is over")
	case !slices.ContainsFunc(x.new, func(id job.AllocID) bool { return !accepted(id) }):
		by := explain.Few(x.new)
		for _, id := range slices.Clone(x.old) {
			e.giveBack(e.allocs[id], event.AllocEnded{Reason: "exchanged for " + by, Unwanted: true})
		}
	case e.now >= x.at.Add(acceptWithin):
		e.undoExchange(x, "the batch system has not accepted it")
	}
}

// undoExchange gives back the new requests that have not begun.
func (e *Engine) undoExchange(x *exchange, why string) {
	for _, id := range slices.Clone(x.new) {
		if a := e.allocs[id]; !a.up() {
			e.giveBack(a, event.AllocEnded{Reason: why, Unwanted: true})
		}
	}
}

// exchangeable returns the requests of the job that may be exchanged: all of them, if they wait and nothing of the job can run.
func (e *Engine) exchangeable(j *jobState) []job.AllocID {
	p := &j.plan
	if !e.cfg.Exchange || !j.active() || !j.waits() || j.Live > 0 || p.onWay || p.failed != "" || j.exchange.underWay() || j.exchange.n >= mostExchanges {
		return nil
	}
	var ids []job.AllocID
	for _, a := range j.pool.allocs {
		switch {
		case a.up():
			return nil
		case a.job != j.ID:
		case !a.queued:
			return nil
		default:
			ids = append(ids, a.id)
		}
	}
	return ids
}

// reviewAt returns when the requests of the job are reviewed.
func (e *Engine) reviewAt(j *jobState, ids []job.AllocID) job.Time {
	at := j.reviewedAt
	for _, id := range ids {
		at = max(at, e.allocs[id].requested)
	}
	if at = at.Add(reviewEvery); j.exchange.n > 0 {
		at = max(at, j.exchange.at.Add(exchangeEvery))
	}
	return at
}

// exchangeDeadlines offers the times at which an exchange is undone, or the job's requests are reviewed.
func (e *Engine) exchangeDeadlines(j *jobState, offer func(job.Time)) {
	if j.exchange.underWay() {
		offer(j.exchange.at.Add(acceptWithin))
	}
	if ids := e.exchangeable(j); len(ids) > 0 {
		offer(e.reviewAt(j, ids))
	}
}

// reviewRequests requests a plan of the job as if its waiting requests were not there, from time to time.
func (e *Engine) reviewRequests(j *jobState) {
	ids := e.exchangeable(j)
	if len(ids) == 0 || e.now < e.reviewAt(j, ids) {
		return
	}
	j.reviewedAt = e.now
	e.stale = true
	if slices.ContainsFunc(ids, func(id job.AllocID) bool { at := e.allocs[id].start; return at != 0 && at <= e.now.Add(soon) }) {
		return
	}
	j.plan.onWay, j.plan.review, j.plan.reason = true, true, "others than its waiting requests may be better by now"
	e.do(step.Plan{Job: j.work.ID, Reason: j.plan.reason, Remaining: e.toPlan(j), Waiting: ids})
}

// reviewed handles a plan that may exchange the requests of a job.
func (e *Engine) reviewed(j *jobState, in step.Planned) {
	j.plan.onWay, j.plan.review, j.plan.reason = false, false, ""
	e.touchAllocs()
	if !j.active() || j.pool == nil || len(in.Instead) == 0 || !slices.Equal(e.exchangeable(j), in.Instead) || !e.wouldServe(j, in.Allocs) {
		return // something has happened meanwhile
	}
	e.emit(event.JobPlanned{Job: in.Job, Scout: in.Scout, Decision: in.Decision, Turnaround: in.Turnaround, TaskTimes: in.TaskTimes, Most: j.of[0].Left.Most})
	for _, r := range in.Allocs {
		id := e.nextAlloc()
		e.emit(event.AllocRequested{Alloc: id, Request: r, Job: j.work.ID, Instead: in.Instead, Beside: len(in.Allocs) - 1})
		e.do(step.Request{Alloc: id, Request: r})
	}
}

// wouldServe reports whether requests alone would serve all tasks of the job that are ready.
func (e *Engine) wouldServe(j *jobState, requests []job.AllocRequest) bool {
	for _, r := range requests {
		if job.ShapeOf(r) != j.pool.shape || r.Nodes < 1 {
			return false
		}
	}
	for t := range j.next {
		var pr prospect
		for _, r := range requests {
			pr.add(&alloc{req: r}, j.pool, t, e.now)
		}
		if !pr.ok {
			return false
		}
	}
	return len(requests) > 0
}
