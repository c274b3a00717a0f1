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
		l.least, l.short = append(l.least, gone), append(l.short, timeline.Unbounded)
	}
	if nodes != gone {
		b := i / blockSize
		l.least[b], l.short[b] = min(l.least[b], nodes), min(l.short[b], limit)
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
}

// next returns the first place of a job that waits in [from, to), or to.
func (l *line) next(from, to int) int {
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
