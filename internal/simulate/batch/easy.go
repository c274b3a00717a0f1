package batch

import (
	"cmp"
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// easy is EASY backfilling (D. Lifka, The ANL/IBM SP Scheduling System, 1995), as implemented by the
// simulator pyss. The head of the queue starts as soon as it fits. Until then it has a reservation
// at its shadow time, when enough running jobs will have reached their limits. Other jobs start at
// once if they fit and either end by the shadow time or use only nodes that the head does not need.
// They are tried in the order of arrival, or shortest first (EASY-SJBF: D. Tsafrir, Y. Etsion, D.
// Feitelson, Backfilling Using System-Generated Predictions Rather than User Runtime Estimates,
// 2007). A head that is larger than the cluster, after a Resize, has no reservation.
//
// First come, first served (FCFS) is the same without reservations and other jobs.
//
// Events of one instant are handled one by one, as in pyss: first the jobs that end at their limits,
// then each job that ends early, then each arrival. After each event all jobs start that can. This
// order matters if wall times are estimates.
//
// If nothing has ended and the head is the same, only new arrivals can start. Otherwise each waiting
// job is checked. Queues of logs are short, and a check needs some nanoseconds (BenchmarkEASYTrace,
// BenchmarkEASYQueue).
type easy struct {
	*System // its timeline has the running jobs, up to their limits, except under FCFS, which needs none to decide
	policy  Policy

	idle  int   // free nodes, without those of early
	early []ID  // jobs that ended before their limits and are not handled yet
	fresh int   // number of jobs at the queue's end that have arrived and are not handled yet
	tried []int // buffer of order

	stale    bool // a waiting job may have become able to start
	reserved bool // shadow and extra are valid: the head's reservation, and the nodes then free beside it
	shadow   job.Time
	extra    int
}

func (e *easy) submit(job.Time, *request) { e.fresh++ }

func (e *easy) cancel(_ job.Time, _ request, place int) {
	if place == 0 {
		e.stale, e.reserved = true, false
	}
	if place > len(e.queue)-e.fresh {
		e.fresh--
	}
}

func (e *easy) end(now job.Time, id ID) {
	if j := &e.jobs[id]; j.end() > now && e.policy != FCFS {
		e.early = append(e.early, id)
	} else {
		e.release(j.Nodes)
	}
}

// release adds free nodes.
func (e *easy) release(nodes int) {
	e.idle += nodes
	e.stale, e.reserved = true, false
}

// endEarly handles the end of a job before its limit.
func (e *easy) endEarly(now job.Time, id ID) {
	j := &e.jobs[id]
	e.line.Add(now, j.end(), j.Nodes)
	e.release(j.Nodes)
}

func (e *easy) resize(now job.Time, more int) {
	for _, id := range e.early {
		e.endEarly(now, id)
	}
	e.early = e.early[:0]
	e.line.Add(now, timeline.Never, more)
	e.release(more)
}

// start implements scheduler.
func (e *easy) start(now job.Time, ids []ID) []ID {
	ids = e.pass(now, ids)
	for _, id := range e.early {
		e.endEarly(now, id)
		ids = e.pass(now, ids)
	}
	e.early = e.early[:0]
	for e.fresh > 0 {
		ids = e.arrive(now, ids)
	}
	return ids
}

// pass starts the waiting jobs that can start, except fresh ones.
func (e *easy) pass(now job.Time, ids []ID) []ID {
	if !e.stale {
		return ids
	}
	e.stale = false
	old, n := e.queue[:len(e.queue)-e.fresh], 0
	for ; n < len(old) && int(old[n].nodes) <= e.idle; n++ {
		ids = e.launch(now, old[n], ids)
	}
	if n > 0 {
		e.queue, old, e.reserved = e.queue[n:], old[n:], false
	}
	if len(old) < 2 || e.idle == 0 || e.policy == FCFS {
		return ids
	}
	e.reserve(now)
	first := len(ids)
	waiting := old[1:]
	for _, i := range e.order(waiting) {
		if w := &waiting[i]; e.fits(now, *w) {
			ids = e.launch(now, *w, ids)
			w.nodes = 0
		}
	}
	if len(ids) > first {
		e.queue = slices.DeleteFunc(e.queue, func(w request) bool { return w.nodes == 0 })
	}
	return ids
}

// order returns the places of the waiting jobs that fit, in the order in which they are tried.
func (e *easy) order(waiting []request) []int {
	e.tried = e.tried[:0]
	for i, w := range waiting {
		if int(w.nodes) <= e.idle {
			e.tried = append(e.tried, i)
		}
	}
	if e.policy == EASYSJBF {
		slices.SortStableFunc(e.tried, func(a, b int) int { return cmp.Compare(waiting[a].limit, waiting[b].limit) })
	}
	return e.tried
}

// fits reports whether a job other than the head can start without delaying the head.
func (e *easy) fits(now job.Time, w request) bool {
	nodes := int(w.nodes)
	return nodes <= e.idle && (nodes <= e.extra || timeline.After(now, w.limit) <= e.shadow)
}

// arrive handles the first fresh job: it starts if it can.
func (e *easy) arrive(now job.Time, ids []ID) []ID {
	i := len(e.queue) - e.fresh
	w := e.queue[i]
	e.fresh--
	if int(w.nodes) > e.idle {
		return ids
	}
	if i > 0 {
		if e.policy == FCFS {
			return ids
		}
		e.reserve(now)
		if !e.fits(now, w) {
			return ids
		}
	}
	e.queue = slices.Delete(e.queue, i, i+1)
	return e.launch(now, w, ids)
}

// launch starts a job. If the job ends after the shadow time it reduces the nodes that are free
// then.
func (e *easy) launch(now job.Time, w request, ids []ID) []ID {
	end, nodes := timeline.After(now, w.limit), int(w.nodes)
	if e.policy != FCFS {
		e.line.Add(now, end, -nodes)
	}
	e.idle -= nodes
	if end > e.shadow {
		e.extra -= nodes
	}
	return append(ids, w.id)
}

// reserve computes when the head can start by the limits of the running jobs, and how many nodes are
// free beside it then.
func (e *easy) reserve(now job.Time) {
	if e.reserved {
		return
	}
	nodes, ok := int(e.queue[0].nodes), false
	e.reserved = true
	if e.shadow, ok = e.line.EarliestFit(now, nodes, 1); ok {
		e.extra = e.line.At(e.shadow) - nodes
	} else {
		e.shadow, e.extra = timeline.Never, 0
	}
}

// next implements scheduler: jobs start only when others end.
func (e *easy) next() job.Time { return timeline.Never }

// timeline implements scheduler.
func (e *easy) timeline(now job.Time) *timeline.Timeline {
	line, at := e.withHead(now)
	if at != timeline.Never {
		line.Add(at, timeline.After(at, e.queue[0].limit), -int(e.queue[0].nodes))
	}
	return line
}

// planned implements scheduler: only the head has a reservation.
func (e *easy) planned(place int) job.Time {
	if place > 0 {
		return timeline.Never
	}
	_, at := e.withHead(e.line.From())
	return at
}

// withHead returns the timeline with the ends that are not handled, and when the head can start on it.
func (e *easy) withHead(now job.Time) (line *timeline.Timeline, at job.Time) {
	if e.policy == FCFS {
		return e.runningTimeline(now), timeline.Never
	}
	line = e.line.Clone()
	for _, id := range e.early {
		line.Add(now, e.jobs[id].end(), e.jobs[id].Nodes)
	}
	if len(e.queue) > 0 {
		if at, ok := line.EarliestFit(now, int(e.queue[0].nodes), 1); ok {
			return line, at
		}
	}
	return line, timeline.Never
}
