package batch

import (
	"slices"

	"berth/internal/job"
	"berth/internal/timeline"
)

// cbfTwin is conservative backfilling with a number of free nodes for each instant, and
// sweeps that take up each job of the queue and put it down again.
type cbfTwin struct {
	nodes int
	queue []Entry // in the order of arrival; Start is the reservation
	runs  []Entry
	free  []int // by instant; the last one stays
}

func newCBFTwin(nodes int) *cbfTwin {
	return &cbfTwin{nodes: nodes, free: slices.Repeat([]int{nodes}, 2000)}
}

// add changes what is free while a job is on nodes.
func (w *cbfTwin) add(from job.Time, e Entry, n int) {
	for t := from; e.Start != timeline.Never && t < min(after(e.Start, e.Limit), job.Time(len(w.free))); t++ {
		if w.free[t] += n; w.free[t] < 0 {
			panic("nodes are used twice")
		}
	}
}

func (w *cbfTwin) place(now job.Time, e *Entry) {
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

func (w *cbfTwin) sweep(now job.Time) {
	for i := range w.queue {
		e := &w.queue[i]
		was := e.Start
		w.add(e.Start, *e, e.Nodes)
		w.place(now, e)
		if e.Start > was {
			panic("a reservation was delayed")
		}
	}
}

func (w *cbfTwin) submit(now job.Time, e Entry) {
	w.place(now, &e)
	w.queue = append(w.queue, e)
}

func (w *cbfTwin) cancel(now job.Time, id ID) {
	i := slices.IndexFunc(w.queue, func(e Entry) bool { return e.ID == id })
	w.add(w.queue[i].Start, w.queue[i], w.queue[i].Nodes)
	w.queue = slices.Delete(w.queue, i, i+1)
	w.sweep(now)
}

func (w *cbfTwin) end(now job.Time, id ID) {
	i := slices.IndexFunc(w.runs, func(e Entry) bool { return e.ID == id })
	w.add(now, w.runs[i], w.runs[i].Nodes)
	w.runs = slices.Delete(w.runs, i, i+1)
	w.sweep(now)
}

func (w *cbfTwin) resize(now job.Time, more int) {
	w.nodes += more
	for t := now; more > 0 && t < job.Time(len(w.free)); t++ {
		w.free[t] += more
	}
	if more < 0 {
		w.shrink(now)
	}
	w.sweep(now)
}

// shrink keeps the reservations that can be kept, and makes the others anew.
func (w *cbfTwin) shrink(now job.Time) {
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
		w.place(now, &w.queue[i])
	}
}

func (w *cbfTwin) start(now job.Time) (ids []ID) {
	w.queue = slices.DeleteFunc(w.queue, func(e Entry) bool {
		if e.Start == now {
			w.runs = append(w.runs, e)
			ids = append(ids, e.ID)
		}
		return e.Start == now
	})
	return ids
}

func (w *cbfTwin) planned(_ job.Time, id ID) job.Time {
	return w.queue[slices.IndexFunc(w.queue, func(e Entry) bool { return e.ID == id })].Start
}

func (w *cbfTwin) freeAt(_, at job.Time) int { return w.free[at] }
