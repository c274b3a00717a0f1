package sim

import (
	"berth/internal/job"
	"berth/internal/timeline"
)

// happening is something that is to happen at an instant.
type happening interface{ happen() }

// rank is the order of what happens at one instant.
type rank uint64

const (
	endRank     rank = iota // tasks and rigid jobs end, workers come up
	limitRank               // wall times are over: what ends just then has ended
	faultRank               // nodes fail, are repaired, become slow
	arrivalRank             // jobs arrive
	tickRank                // engines are told the time
)

// agenda is what is to happen, a heap by instant, rank and the order in which it was noted.
type agenda struct {
	heap []entry
	seq  uint64
}

type entry struct {
	at   job.Time
	key  uint64 // rank, then number
	what happening
}

func (a entry) before(b entry) bool { return a.at < b.at || a.at == b.at && a.key < b.key }

// rankShift leaves 2^56 numbers for what is noted.
const rankShift = 56

// note puts something on the agenda.
func (a *agenda) note(at job.Time, r rank, what happening) {
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

// first returns when the next is to happen, Never for an empty agenda.
func (a *agenda) first() job.Time {
	if len(a.heap) == 0 {
		return timeline.Never
	}
	return a.heap[0].at
}

// next takes the first from the agenda.
func (a *agenda) next() happening {
	first, last := a.heap[0], a.heap[len(a.heap)-1]
	a.heap[len(a.heap)-1] = entry{}
	a.heap = a.heap[:len(a.heap)-1]
	if len(a.heap) > 0 {
		a.sink(last)
	}
	return first.what
}

// sink puts an entry into the hole at the top.
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
