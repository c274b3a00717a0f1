package starts

import (
	"math"
	"time"

	"berth/internal/core/timeline"
)

// line is the jobs that wait, in the order of priority. Those that have left stay as gaps. For each block of them it
// has the smallest request, so that a search for jobs that fit skips most of a long queue.
type line struct {
	nodes  []int32 // gone: a gap
	limits []time.Duration
	least  []int32         // by block: the least nodes of one that waits
	short  []time.Duration // by block: the shortest limit of one that waits
	within []within        // by block
}

// within is what is known of the jobs of a block whose limits are at most room: each has least nodes or more.
type within struct {
	room  time.Duration // below 0: nothing is known
	least int32
}

const (
	blockSize = 64
	gone      = math.MaxInt32
)

// push adds a job at the end; with nodes gone, a gap.
func (l *line) push(nodes int32, limit time.Duration) {
	i := len(l.nodes)
	l.nodes, l.limits = append(l.nodes, nodes), append(l.limits, limit)
	if i%blockSize == 0 {
		l.least, l.short, l.within = append(l.least, gone), append(l.short, timeline.Unbounded), append(l.within, within{room: -1})
	}
	if nodes != gone {
		b := i / blockSize
		l.least[b], l.short[b] = min(l.least[b], nodes), min(l.short[b], limit)
		if w := &l.within[b]; limit <= w.room {
			w.least = min(w.least, nodes)
		}
	}
}

// set puts a job into a place, or makes a gap there.
func (l *line) set(i int, nodes int32, limit time.Duration) {
	l.nodes[i], l.limits[i] = nodes, limit
	b := i / blockSize
	least, short := int32(gone), timeline.Unbounded
	for k := b * blockSize; k < min((b+1)*blockSize, len(l.nodes)); k++ {
		if l.nodes[k] != gone {
			least, short = min(least, l.nodes[k]), min(short, l.limits[k])
		}
	}
	l.least[b], l.short[b] = least, short
	if nodes != gone {
		l.within[b].room = -1
	}
}

// leastWithin returns a lower bound of the nodes of a job in a block that waits and whose limit is at most room.
func (l *line) leastWithin(b int, room time.Duration) int {
	switch w := l.within[b]; {
	case l.short[b] > room:
		return gone
	case room <= w.room:
		return int(w.least)
	}
	return int(l.least[b])
}

// nextWaiting returns the first place of a job that waits in [from, to), or to.
func (l *line) nextWaiting(from, to int) int {
	for from < to {
		switch {
		case l.least[from/blockSize] == gone:
			from = (from/blockSize + 1) * blockSize
		case l.nodes[from] == gone:
			from++
		default:
			return from
		}
	}
	return to
}
