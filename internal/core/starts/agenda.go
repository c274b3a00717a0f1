package starts

import (
	"cmp"
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// entry is the end of a job: nodes become free at an instant.
type entry struct {
	at    job.Time
	nodes int32
	id    int32
}

func (e entry) before(o entry) bool { return e.at < o.at || e.at == o.at && e.id < o.id }

// agenda is a list of ends in the order of time. It is cut into short blocks, so that adding and removing an end of
// thousands moves few of them, and so that a search for an instant by the number of free nodes skips most of them.
type agenda struct {
	blocks []block
	memory []entry // of blocks that were copied
}

type block struct {
	entries []entry
	nodes   int // sum of the entries'
}

// mostEntries is how many entries a block has before it is halved.
const mostEntries = 128

// inTime sorts ends in the order of time.
func inTime(ends []entry) []entry {
	slices.SortFunc(ends, func(a, b entry) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.id, b.id)
	})
	return ends
}

// newAgenda returns an agenda of ends in the order of time.
func newAgenda(ends []entry) agenda {
	var a agenda
	for part := range slices.Chunk(ends, mostEntries/2) {
		b := block{entries: append(make([]entry, 0, mostEntries), part...)}
		for _, e := range part {
			b.nodes += int(e.nodes)
		}
		a.blocks = append(a.blocks, b)
	}
	return a
}

// copied returns a copy of another agenda, in the memory of this one.
func (a *agenda) copied(of *agenda) agenda {
	c := agenda{append(a.blocks[:0], of.blocks...), slices.Grow(a.memory[:0], len(of.blocks)*mostEntries)}
	for i := range c.blocks {
		from := i * mostEntries
		c.blocks[i].entries = append(c.memory[from:from:from+mostEntries], of.blocks[i].entries...)
	}
	return c
}

// find returns the block to which an end belongs, and its place there.
func (a *agenda) find(e entry) (b, i int) {
	b = search(len(a.blocks)-1, func(k int) bool {
		last := a.blocks[k].entries
		return last[len(last)-1].before(e)
	})
	entries := a.blocks[b].entries
	return b, search(len(entries), func(k int) bool { return entries[k].before(e) })
}

// search returns the first index below n that is not before what is searched for, or n.
func search(n int, before func(int) bool) int {
	low := 0
	for low < n {
		if mid := (low + n) / 2; before(mid) {
			low = mid + 1
		} else {
			n = mid
		}
	}
	return low
}

func (a *agenda) add(e entry) {
	if len(a.blocks) == 0 {
		a.blocks = append(a.blocks, block{entries: make([]entry, 0, mostEntries)})
	}
	k, i := a.find(e)
	b := &a.blocks[k]
	b.entries = slices.Insert(b.entries, i, e)
	b.nodes += int(e.nodes)
	if len(b.entries) == mostEntries {
		upper := block{entries: append(make([]entry, 0, mostEntries), b.entries[mostEntries/2:]...)}
		for _, e := range upper.entries {
			upper.nodes += int(e.nodes)
		}
		b.entries, b.nodes = b.entries[:mostEntries/2], b.nodes-upper.nodes
		a.blocks = slices.Insert(a.blocks, k+1, upper)
	}
}

// remove removes an end that is in the agenda.
func (a *agenda) remove(e entry) {
	k, i := a.find(e)
	b := &a.blocks[k]
	b.entries = slices.Delete(b.entries, i, i+1)
	b.nodes -= int(e.nodes)
	if len(b.entries) == 0 {
		a.blocks = slices.Delete(a.blocks, k, k+1)
	}
}

// first returns the first end; at Never if there is none.
func (a *agenda) first() entry {
	if len(a.blocks) == 0 {
		return entry{at: timeline.Never}
	}
	return a.blocks[0].entries[0]
}

// pop removes the first end.
func (a *agenda) pop() {
	b := &a.blocks[0]
	b.nodes -= int(b.entries[0].nodes)
	if b.entries = b.entries[1:]; len(b.entries) == 0 {
		a.blocks = a.blocks[1:]
	}
}

// reachedAt returns the instant at which need nodes have become free, and how many have by then; Never if they never do.
func (a *agenda) reachedAt(need int) (at job.Time, nodes int) {
	k := 0
	for ; k < len(a.blocks) && nodes+a.blocks[k].nodes < need; k++ {
		nodes += a.blocks[k].nodes
	}
	at = timeline.Never
	for ; k < len(a.blocks); k++ {
		for _, e := range a.blocks[k].entries {
			if nodes >= need && e.at > at {
				return at, nodes
			}
			nodes, at = nodes+int(e.nodes), e.at
		}
	}
	return at, nodes
}

// freedBy returns how many nodes have become free by an instant.
func (a *agenda) freedBy(at job.Time) (nodes int) {
	for _, b := range a.blocks {
		if last := b.entries[len(b.entries)-1]; last.at <= at {
			nodes += b.nodes
			continue
		}
		for _, e := range b.entries {
			if e.at > at {
				return nodes
			}
			nodes += int(e.nodes)
		}
	}
	return nodes
}
