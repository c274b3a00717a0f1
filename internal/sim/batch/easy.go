package batch

import (
	"math"
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
// An event looks at no job that cannot start: what waits is indexed by nodes and time, and
// as long as nothing ended and the head is the same, only what has just arrived can start.
type easy struct {
	sys      *System
	shortest bool

	free    int
	running *timeline.Timeline // what is free by the limits of the running jobs …
	held    []reservation      // … and of these while a caller looks at it
	early   []ID               // jobs that ended before their limits, not taken in yet
	line    line
	index   index // of the line before the turn fresh: of the rest nothing is taken in yet
	fresh   int64

	stale    bool // jobs of the index may have become able to start
	reserved bool // shadow and extra are the head's reservation and the nodes free beside it
	shadow   job.Time
	extra    int
}

// reservation is so many nodes that are taken from an instant until before another.
type reservation struct {
	from, to job.Time
	nodes    int // below 0: they are free
}

func newEASY(s *System, sjbf bool) scheduler {
	e := &easy{sys: s, shortest: sjbf, free: s.nodes, running: timeline.New(math.MinInt64, s.nodes)}
	e.index = newIndex(&e.line, s.nodes)
	return e
}

func (e *easy) submit(now job.Time, id ID) {
	e.advance(now)
	e.line.push(id)
}

func (e *easy) cancel(now job.Time, id ID) {
	e.advance(now)
	e.leave(e.line.turns[id])
}

// leave takes a job out of the line.
func (e *easy) leave(turn int64) {
	if turn == e.line.head {
		e.stale, e.reserved = true, false
	}
	if turn < e.fresh {
		e.index.remove(turn, e.sys.jobs[e.line.wait(turn).id].Nodes)
	}
	e.line.remove(turn)
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
	e.fresh = max(e.fresh, e.line.head) // what came and was cancelled since may be forgotten
	for ; e.fresh < e.line.end(); e.fresh++ {
		if id := e.line.wait(e.fresh).id; id != gone {
			ids = e.arrive(now, id, ids)
		}
	}
	return ids
}

// pass starts what can start of the line's jobs, but of those that are fresh.
func (e *easy) pass(now job.Time, ids []ID) []ID {
	if !e.stale {
		return ids
	}
	for e.line.head < e.fresh && e.head().Nodes <= e.free {
		ids = e.launch(now, e.line.head, ids)
	}
	e.stale = false
	for e.index.any(e.free) {
		e.reserve(now)
		turn := e.pick(now)
		if turn == noTurn {
			break
		}
		ids = e.launch(now, turn, ids)
	}
	return ids
}

// pick returns the turn of the next of the index to start.
func (e *easy) pick(now job.Time) int64 {
	short, narrow := timeline.Unbounded, min(e.free, e.extra)
	if e.shadow != timeline.Never {
		short = e.shadow.Sub(now)
	}
	if e.shortest {
		return e.index.shortest(e.free, int64(short), narrow)
	}
	return e.index.first(e.free, int64(short), narrow)
}

// arrive starts the job that is the next to arrive if it can start, or puts it in the index.
func (e *easy) arrive(now job.Time, id ID, ids []ID) []ID {
	j := &e.sys.jobs[id]
	if j.Nodes <= e.free {
		if e.fresh == e.line.head {
			return e.launch(now, e.fresh, ids)
		}
		e.reserve(now)
		if j.Nodes <= e.extra || after(now, j.Limit) <= e.shadow {
			return e.launch(now, e.fresh, ids)
		}
	}
	e.index.add(e.fresh, j.Nodes, int64(j.Limit))
	return ids
}

// launch starts a job. One that is not over at the shadow time takes of what is free then.
func (e *easy) launch(now job.Time, turn int64, ids []ID) []ID {
	id := e.line.wait(turn).id
	j := &e.sys.jobs[id]
	end := after(now, j.Limit)
	e.leave(turn)
	e.running.Add(now, end, -j.Nodes)
	e.free -= j.Nodes
	if end > e.shadow {
		e.extra -= j.Nodes
	}
	return append(ids, id)
}

// head returns the first job of the line, which is not empty.
func (e *easy) head() *Entry { return &e.sys.jobs[e.line.wait(e.line.head).id] }

// reserve finds when the head can start by the limits of the running jobs, and how many
// nodes are free beside it then.
func (e *easy) reserve(now job.Time) {
	if e.reserved {
		return
	}
	nodes, ok := e.head().Nodes, false
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
	if e.line.turns[id] != e.line.head {
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
	if e.line.empty() {
		return timeline.Never
	}
	head := e.head()
	at, ok := e.running.EarliestFit(now, head.Nodes, 1)
	if !ok {
		return timeline.Never
	}
	e.hold(at, after(at, head.Limit), head.Nodes)
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
