package batch

import (
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// cbfReference is conservative backfilling on an array with the free nodes of each instant. Its sweeps
// remove and reinsert each job of the queue.
type cbfReference struct {
	nodes int
	queue []Entry // in the order of arrival; Start is the reservation
	runs  []Entry
	free  []int // by instant; the last value continues
}

func newCBFReference(nodes int) *cbfReference {
	return &cbfReference{nodes: nodes, free: slices.Repeat([]int{nodes}, 2000)}
}

// add changes the free nodes during a job.
func (w *cbfReference) add(from job.Time, e Entry, n int) {
	for t := from; e.Start != timeline.Never && t < min(after(e.Start, e.Limit), job.Time(len(w.free))); t++ {
		if w.free[t] += n; w.free[t] < 0 {
			panic("nodes are used twice")
		}
	}
}

func (w *cbfReference) reserveEarliest(now job.Time, e *Entry) {
	at := now
	for t := now; t < job.Time(len(w.free)) && t < after(at, e.Limit); t++ {
		if w.free[t] < e.Nodes {
			at = t + 1
		}
	}
	e.Start = at
	if at == job.Time(len(w.free)) {
		e.Start = timeline.Never
	}
	w.add(e.Start, *e, -e.Nodes)
}

func (w *cbfReference) sweep(now job.Time) {
	for i := range w.queue {
		e := &w.queue[i]
		was := e.Start
		w.add(e.Start, *e, e.Nodes)
		w.reserveEarliest(now, e)
		if e.Start > was {
			panic("a reservation was delayed")
		}
	}
}

func (w *cbfReference) submit(now job.Time, e Entry) {
	w.reserveEarliest(now, &e)
	w.queue = append(w.queue, e)
}

func (w *cbfReference) cancel(now job.Time, id ID) {
	i := slices.IndexFunc(w.queue, func(e Entry) bool { return e.ID == id })
	w.add(w.queue[i].Start, w.queue[i], w.queue[i].Nodes)
	w.queue = slices.Delete(w.queue, i, i+1)
	w.sweep(now)
}

func (w *cbfReference) end(now job.Time, id ID) {
	i := slices.IndexFunc(w.runs, func(e Entry) bool { return e.ID == id })
	w.add(now, w.runs[i], w.runs[i].Nodes)
	w.runs = slices.Delete(w.runs, i, i+1)
	w.sweep(now)
}

func (w *cbfReference) resize(now job.Time, more int) {
	w.nodes += more
	for t := now; more > 0 && t < job.Time(len(w.free)); t++ {
		w.free[t] += more
	}
	if more < 0 {
		w.shrink(now)
	}
	w.sweep(now)
}

// shrink keeps the reservations that still fit and makes new ones for the others.
func (w *cbfReference) shrink(now job.Time) {
	for t := range w.free {
		w.free[t] = w.nodes
	}
	for _, e := range w.runs {
		w.add(now, e, -e.Nodes)
	}
	var anew []int
	for i, e := range w.queue {
		switch {
		case e.Start == timeline.Never:
		case slices.Min(w.free[e.Start:min(after(e.Start, e.Limit), 2000)]) < e.Nodes:
			anew = append(anew, i)
		default:
			w.add(e.Start, e, -e.Nodes)
		}
	}
	for _, i := range anew {
		w.reserveEarliest(now, &w.queue[i])
	}
}

func (w *cbfReference) start(now job.Time) (ids []ID) {
	w.queue = slices.DeleteFunc(w.queue, func(e Entry) bool {
		if e.Start == now {
			w.runs = append(w.runs, e)
			ids = append(ids, e.ID)
		}
		return e.Start == now
	})
	return ids
}

func (w *cbfReference) planned(_ job.Time, id ID) job.Time {
	return w.queue[slices.IndexFunc(w.queue, func(e Entry) bool { return e.ID == id })].Start
}

func (w *cbfReference) freeAt(_, at job.Time) int { return w.free[at] }
