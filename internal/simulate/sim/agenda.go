package sim

import (
	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// rank orders the events of one instant: lower ranks fire first.
type rank uint64

const (
	endRank     rank = iota // tasks and rigid jobs end, workers come up
	limitRank               // wall times end; attempts that end at the same instant have ended before
	faultRank               // nodes fail, are repaired, become slow
	rigidRank               // rigid jobs arrive
	arrivalRank             // elastic jobs arrive
	tickRank                // engines receive a Tick
)

// agenda is the event list of the simulation: a heap ordered by instant, then rank, then insertion.
type agenda struct {
	heap []entry
	seq  uint64
}

type entry struct {
	at   job.Time
	key  uint64 // rank in the high bits, insertion number below
	what func()
}

func (a entry) before(b entry) bool { return a.at < b.at || a.at == b.at && a.key < b.key }

// rankShift leaves 56 bits for the insertion number.
const rankShift = 56

// schedule adds an event to the agenda.
func (a *agenda) schedule(at job.Time, r rank, what func()) {
	a.seq++
	e := entry{at, uint64(r)<<rankShift | a.seq, what}
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(a.heap[up]) {
			break
		}
		a.heap[i] = a.heap[up]
		i = up
	}
	a.heap[i] = e
}

// first returns the instant of the next event, or Never if the agenda is empty.
func (a *agenda) first() job.Time {
	if len(a.heap) == 0 {
		return timeline.Never
	}
	return a.heap[0].at
}

// next removes the next event and returns it.
func (a *agenda) next() func() {
	first, last := a.heap[0], a.heap[len(a.heap)-1]
	a.heap[len(a.heap)-1] = entry{}
	a.heap = a.heap[:len(a.heap)-1]
	if len(a.heap) > 0 {
		a.sink(last)
	}
	return first.what
}

// sink moves e down from the empty root to its position in the heap.
func (a *agenda) sink(e entry) {
	i := 0
	for {
		least := 2*i + 1
		if least >= len(a.heap) {
			break
		}
		if right := least + 1; right < len(a.heap) && a.heap[right].before(a.heap[least]) {
			least = right
		}
		if !a.heap[least].before(e) {
			break
		}
		a.heap[i] = a.heap[least]
		i = least
	}
	a.heap[i] = e
}
