package batch

import (
	"slices"

	"berth/internal/job"
	"berth/internal/timeline"
)

// agenda is waiting jobs by when they are to start, those of equal starts in the order of
// arrival: a heap in which each has four below it, and which knows where each is.
type agenda struct {
	heap   []due
	places []int32 // by ID; of those that are in the heap
}

// due is a job and when it is to start.
type due struct {
	at   job.Time
	turn int32 // in the order of arrival
	id   ID
}

func (d due) before(o due) bool { return d.at < o.at || d.at == o.at && d.turn < o.turn }

// next returns when the first is to start, timeline.Never for none.
func (a *agenda) next() job.Time {
	if len(a.heap) == 0 {
		return timeline.Never
	}
	return a.heap[0].at
}

func (a *agenda) push(d due) {
	if n := int(d.id) + 1; n > len(a.places) {
		a.places = slices.Grow(a.places, n-len(a.places))[:n]
	}
	a.heap = append(a.heap, d)
	a.rise(len(a.heap)-1, d)
}

// move has a job start at another time.
func (a *agenda) move(id ID, at job.Time) {
	i := int(a.places[id])
	d, was := a.heap[i], a.heap[i].at
	d.at = at
	if at < was {
		a.rise(i, d)
	} else {
		a.sink(i, d)
	}
}

// remove takes a job out.
func (a *agenda) remove(id ID) {
	i := int(a.places[id])
	last := a.heap[len(a.heap)-1]
	a.heap = a.heap[:len(a.heap)-1]
	switch {
	case i == len(a.heap):
	case last.before(a.heap[i]):
		a.rise(i, last)
	default:
		a.sink(i, last)
	}
}

// rise puts a job where one is that comes no sooner, or further up.
func (a *agenda) rise(i int, d due) {
	for i > 0 && d.before(a.heap[(i-1)/4]) {
		a.put(i, a.heap[(i-1)/4])
		i = (i - 1) / 4
	}
	a.put(i, d)
}

// sink puts a job where one is that comes no later, or further down.
func (a *agenda) sink(i int, d due) {
	for {
		least := 4*i + 1
		if least >= len(a.heap) {
			break
		}
		for k := least + 1; k < min(4*i+5, len(a.heap)); k++ {
			if a.heap[k].before(a.heap[least]) {
				least = k
			}
		}
		if !a.heap[least].before(d) {
			break
		}
		a.put(i, a.heap[least])
		i = least
	}
	a.put(i, d)
}

func (a *agenda) put(i int, d due) {
	a.heap[i] = d
	a.places[d.id] = int32(i)
}
