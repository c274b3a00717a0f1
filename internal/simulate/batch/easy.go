package batch

import (
	"cmp"
	"math"
	"slices"
	"time"

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
	sys    *System
	policy Policy

	free      int
	running   *timeline.Timeline // free nodes by the limits of the running jobs
	temporary []reservation      // temporary entries of running, removed at the next event
	early     []ID               // jobs that ended before their limits and are not handled yet
	queue     []wanted           // the waiting jobs, in the order of arrival
	fresh     int                // number of jobs at the queue's end that have arrived and are not handled yet
	byTime    []wanted           // buffer for EASY-SJBF

	stale    bool // a waiting job may have become able to start
	reserved bool // shadow and extra are valid: the head's reservation, and the nodes then free beside it
	shadow   job.Time
	extra    int
}

// wanted is the request of a waiting job.
type wanted struct {
	limit time.Duration
	nodes int32
	id    ID
}

// reservation is a number of nodes in use from one instant until before another.
type reservation struct {
	from, to job.Time
	nodes    int // negative: free nodes
}

func newEASY(s *System, p Policy) scheduler {
	return &easy{sys: s, policy: p, free: s.nodes, running: timeline.New(math.MinInt64, s.nodes)}
}

func (e *easy) submit(now job.Time, id ID) {
	e.advance(now)
	j := &e.sys.jobs[id]
	e.queue = append(e.queue, wanted{j.Limit, int32(j.Nodes), id})
	e.fresh++
}

func (e *easy) cancel(now job.Time, id ID) {
	e.advance(now)
	i := slices.IndexFunc(e.queue, func(w wanted) bool { return w.id == id })
	if i == 0 {
		e.stale, e.reserved = true, false
	}
	if i >= len(e.queue)-e.fresh {
		e.fresh--
	}
	e.queue = slices.Delete(e.queue, i, i+1)
}

func (e *easy) end(now job.Time, id ID) {
	e.advance(now)
	if e.limit(id) > now {
		e.early = append(e.early, id)
	} else {
		e.release(e.sys.jobs[id].Nodes)
	}
}

// limit returns when a job reaches its limit, or reached it.
func (e *easy) limit(id ID) job.Time {
	j := &e.sys.jobs[id]
	return after(j.Start, j.Limit)
}

// release adds free nodes.
func (e *easy) release(nodes int) {
	e.free += nodes
	e.stale, e.reserved = true, false
}

// endEarly handles the end of a job before its limit.
func (e *easy) endEarly(now job.Time, id ID) {
	n := e.sys.jobs[id].Nodes
	e.running.Add(now, e.limit(id), n)
	e.release(n)
}

func (e *easy) resize(now job.Time, more int) {
	e.advance(now)
	for _, id := range e.early {
		e.endEarly(now, id)
	}
	e.early = e.early[:0]
	e.running.Add(now, timeline.Never, more)
	e.release(more)
}

// advance moves the beginning of the timeline to now.
func (e *easy) advance(now job.Time) {
	for _, r := range e.temporary {
		e.running.Add(r.from, r.to, r.nodes)
	}
	e.temporary = e.temporary[:0]
	e.running.Advance(now)
}

// start implements scheduler.
func (e *easy) start(now job.Time, ids []ID) []ID {
	e.advance(now)
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
	for ; n < len(old) && int(old[n].nodes) <= e.free; n++ {
		ids = e.launch(now, old[n], ids)
	}
	if n > 0 {
		e.queue, old, e.reserved = e.queue[n:], old[n:], false
	}
	if len(old) < 2 || e.free == 0 || e.policy == FCFS {
		return ids
	}
	e.reserve(now)
	first := len(ids)
	for _, w := range e.order(old[1:]) {
		if e.fits(now, w) {
			ids = e.launch(now, w, ids)
		}
	}
	if len(ids) > first {
		e.queue = slices.DeleteFunc(e.queue, func(w wanted) bool { return e.sys.jobs[w.id].Start != timeline.Never })
	}
	return ids
}

// order returns the waiting jobs in the order in which they are tried.
func (e *easy) order(waiting []wanted) []wanted {
	if e.policy != EASYSJBF {
		return waiting
	}
	e.byTime = e.byTime[:0]
	for _, w := range waiting {
		if int(w.nodes) <= e.free {
			e.byTime = append(e.byTime, w)
		}
	}
	slices.SortStableFunc(e.byTime, func(a, b wanted) int { return cmp.Compare(a.limit, b.limit) })
	return e.byTime
}

// fits reports whether a job other than the head can start without delaying the head.
func (e *easy) fits(now job.Time, w wanted) bool {
	nodes := int(w.nodes)
	return nodes <= e.free && (nodes <= e.extra || after(now, w.limit) <= e.shadow)
}

// arrive handles the first fresh job: it starts if it can.
func (e *easy) arrive(now job.Time, ids []ID) []ID {
	i := len(e.queue) - e.fresh
	w := e.queue[i]
	e.fresh--
	if int(w.nodes) > e.free {
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
func (e *easy) launch(now job.Time, w wanted, ids []ID) []ID {
	end, nodes := after(now, w.limit), int(w.nodes)
	e.running.Add(now, end, -nodes)
	e.free -= nodes
	if end > e.shadow {
		e.extra -= nodes
	}
	e.sys.jobs[w.id].Start = now
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
	if e.shadow, ok = e.running.EarliestFit(now, nodes, 1); ok {
		e.extra = e.running.At(e.shadow) - nodes
	} else {
		e.shadow, e.extra = timeline.Never, 0
	}
}

// next implements scheduler: jobs start only when others end.
func (e *easy) next() job.Time { return timeline.Never }

// timeline implements scheduler.
func (e *easy) timeline(now job.Time) *timeline.Timeline {
	e.show(now)
	return e.running
}

// planned implements scheduler: only the head has a reservation.
func (e *easy) planned(id ID) job.Time {
	if e.queue[0].id != id {
		return timeline.Never
	}
	return e.show(e.running.From())
}

// show adds the unhandled ends and the head's reservation to the timeline until the next event. It
// returns the start of the reservation.
func (e *easy) show(now job.Time) job.Time {
	e.advance(now)
	for _, id := range e.early {
		e.addTemporary(now, e.limit(id), -e.sys.jobs[id].Nodes)
	}
	if len(e.queue) == 0 || e.policy == FCFS {
		return timeline.Never
	}
	head := e.queue[0]
	at, ok := e.running.EarliestFit(now, int(head.nodes), 1)
	if !ok {
		return timeline.Never
	}
	e.addTemporary(at, after(at, head.limit), int(head.nodes))
	return at
}

// addTemporary reserves nodes on the timeline until the next event.
func (e *easy) addTemporary(from, to job.Time, nodes int) {
	e.running.Add(from, to, -nodes)
	e.temporary = append(e.temporary, reservation{from, to, nodes})
}

// after returns the instant d after t, or Never if there is none.
func after(t job.Time, d time.Duration) job.Time {
	if t > timeline.Never-job.Time(d) {
		return timeline.Never
	}
	return t.Add(d)
}
