package batch

import (
	"cmp"
	"math"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// easy is EASY backfilling (D. Lifka, The ANL/IBM SP Scheduling System, 1995), as the
// simulator pyss understands it: the head of the queue starts as soon as it fits. Where it
// does not, it has a reservation at its shadow time, when enough of the running jobs have
// ended by their limits; and others start at once if they fit and either are over by then
// or need none of the nodes that the head does. They are tried in the order of arrival, or
// the shortest first (EASY-SJBF: D. Tsafrir, Y. Etsion, D. Feitelson, Backfilling Using
// System-Generated Predictions Rather than User Runtime Estimates, 2007). A head that is
// larger than the cluster, after a Resize, reserves nothing.
//
// Of what happens at one instant each thing counts for itself, as in pyss: first jobs that
// end at their limits, as foreseen, then each that ends early, then each that arrives; and
// after each of them what can start does. Where requests are estimates this order matters.
//
// As long as nothing ended and the head is the same, only what has just arrived can start.
// Else each job that waits is looked at: queues of logs are short, and it takes some
// nanoseconds a job (BenchmarkEASYTrace, BenchmarkEASYQueue).
type easy struct {
	sys      *System
	shortest bool

	free    int
	running *timeline.Timeline // what is free by the limits of the running jobs …
	held    []reservation      // … and of these while a caller looks at it
	early   []ID               // jobs that ended before their limits, not taken in yet
	queue   []wanted           // what waits, in the order of arrival
	fresh   int                // so many at the queue's end have just arrived and are not taken in yet
	byTime  []wanted           // for EASY-SJBF, kept for its memory

	stale    bool // jobs that wait may have become able to start
	reserved bool // shadow and extra are the head's reservation and the nodes free beside it
	shadow   job.Time
	extra    int
}

// wanted is what a waiting job asks for.
type wanted struct {
	limit time.Duration
	nodes int32
	id    ID
}

// reservation is so many nodes that are taken from an instant until before another.
type reservation struct {
	from, to job.Time
	nodes    int // below 0: they are free
}

func newEASY(s *System, sjbf bool) scheduler {
	return &easy{sys: s, shortest: sjbf, free: s.nodes, running: timeline.New(math.MinInt64, s.nodes)}
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

// limit returns when a job that runs, or did, reaches its limit.
func (e *easy) limit(id ID) job.Time {
	j := &e.sys.jobs[id]
	return after(j.Start, j.Limit)
}

// release takes in that nodes became free.
func (e *easy) release(nodes int) {
	e.free += nodes
	e.stale, e.reserved = true, false
}

// takeIn takes in that a job ended before its limit.
func (e *easy) takeIn(now job.Time, id ID) {
	n := e.sys.jobs[id].Nodes
	e.running.Add(now, e.limit(id), n)
	e.release(n)
}

func (e *easy) resize(now job.Time, more int) {
	e.advance(now)
	for _, id := range e.early {
		e.takeIn(now, id)
	}
	e.early = e.early[:0]
	e.running.Add(now, timeline.Never, more)
	e.release(more)
}

// advance makes now the beginning of the timeline of running jobs.
func (e *easy) advance(now job.Time) {
	for _, r := range e.held {
		e.running.Add(r.from, r.to, r.nodes)
	}
	e.held = e.held[:0]
	e.running.Advance(now)
}

// start implements scheduler.
func (e *easy) start(now job.Time, ids []ID) []ID {
	e.advance(now)
	ids = e.pass(now, ids)
	for _, id := range e.early {
		e.takeIn(now, id)
		ids = e.pass(now, ids)
	}
	e.early = e.early[:0]
	for e.fresh > 0 {
		ids = e.arrive(now, ids)
	}
	return ids
}

// pass starts what can start of the jobs that wait, but of those that are fresh.
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
	if len(old) < 2 || e.free == 0 {
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

// order returns jobs that wait in the order in which they are tried.
func (e *easy) order(waiting []wanted) []wanted {
	if !e.shortest {
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

// fits reports whether a job that is not the head can start without delaying the head.
func (e *easy) fits(now job.Time, w wanted) bool {
	nodes := int(w.nodes)
	return nodes <= e.free && (nodes <= e.extra || after(now, w.limit) <= e.shadow)
}

// arrive takes in the first of the fresh jobs, which starts if it can.
func (e *easy) arrive(now job.Time, ids []ID) []ID {
	i := len(e.queue) - e.fresh
	w := e.queue[i]
	e.fresh--
	if int(w.nodes) > e.free {
		return ids
	}
	if i > 0 {
		e.reserve(now)
		if !e.fits(now, w) {
			return ids
		}
	}
	e.queue = slices.Delete(e.queue, i, i+1)
	return e.launch(now, w, ids)
}

// launch starts a job. One that is not over at the shadow time takes of what is free then.
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

// reserve finds when the head can start by the limits of the running jobs, and how many
// nodes are free beside it then.
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

// next implements scheduler: jobs start when others end.
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

// show adds to the timeline what is not taken in yet, and the head's reservation, until the
// next event. It returns when that begins.
func (e *easy) show(now job.Time) job.Time {
	e.advance(now)
	for _, id := range e.early {
		e.hold(now, e.limit(id), -e.sys.jobs[id].Nodes)
	}
	if len(e.queue) == 0 {
		return timeline.Never
	}
	head := e.queue[0]
	at, ok := e.running.EarliestFit(now, int(head.nodes), 1)
	if !ok {
		return timeline.Never
	}
	e.hold(at, after(at, head.limit), int(head.nodes))
	return at
}

// hold takes nodes on the timeline while a caller looks at it.
func (e *easy) hold(from, to job.Time, nodes int) {
	e.running.Add(from, to, -nodes)
	e.held = append(e.held, reservation{from, to, nodes})
}

// after returns the instant d after t, Never where there is none.
func after(t job.Time, d time.Duration) job.Time {
	if t > timeline.Never-job.Time(d) {
		return timeline.Never
	}
	return t.Add(d)
}
