package extsort

import (
	"bytes"
	"hash/maphash"
)

// grouper finds records that the buffer holds already, so that a repeat costs a count
// and no space. Looking costs time, so it is done only while it pays: a sample of the
// records shows whether many repeat. What it misses, sorting brings together anyway.
type grouper struct {
	slots []slot // by hash; a new record takes its slot from the old one
	seed  maphash.Seed
	on    bool
	left  int // records until the next decision
	seen  int // records looked up since the last one
	hits  int // found among them
}

// slot is a 32 bit part of a hash and, below it, the number of an entry; 0: empty.
type slot uint64

const slotSize = 8 // bytes

// How many records are sampled, then passed over when too few of them repeated, or
// grouped before that is judged anew. A quarter pays (measured with 8-byte records).
const (
	groupSample = 4 << 10
	groupPass   = 252 << 10
	groupOn     = 64 << 10
	groupPays   = 4
)

// maxSlots bounds the table to what stays in a core's cache, more or less.
const maxSlots = 1 << 18

// newGrouper works in mem, of which it uses a power of two.
func newGrouper(mem []byte) grouper {
	n := 1
	for n*2*slotSize <= len(mem) && n*2 <= maxSlots {
		n *= 2
	}
	g := grouper{slots: viewSlots(mem, n), seed: maphash.MakeSeed(), on: true, left: groupSample}
	clear(g.slots)
	return g
}

// active says whether the next record is to be looked up.
func (g *grouper) active() bool {
	if g.left == 0 {
		g.decide()
	}
	g.left--
	return g.on
}

func (g *grouper) decide() {
	switch {
	case !g.on:
		g.on, g.left = true, groupSample
	case g.hits*groupPays >= g.seen:
		g.left = groupOn
	default:
		g.on, g.left = false, groupPass
	}
	g.seen, g.hits = 0, 0
}

// forget empties the table: the buffer was spilled.
func (g *grouper) forget() { clear(g.slots) }

// repeat counts a line that b holds already, and returns true. If not, it notes that
// the line will be b's next entry.
func (g *grouper) repeat(b *buffer, line []byte) bool {
	g.seen++
	h := maphash.Bytes(g.seed, line)
	s := &g.slots[h&uint64(len(g.slots)-1)]
	tag := slot(h) &^ (1<<32 - 1)
	if *s != 0 && *s&^(1<<32-1) == tag {
		e := b.entry(int(*s & (1<<32 - 1)))
		if e.count < maxCount && bytes.Equal(b.mem[e.off:e.off+e.lineLen], line) {
			e.count++
			g.hits++
			return true
		}
	}
	*s = tag | slot(b.n+1)
	return false
}
