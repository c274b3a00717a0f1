package extsort

import (
	"bytes"
	"hash/maphash"
)

// dedup finds records that are in the buffer already, so that a repeated record increments a count
// and needs no space. The lookup costs time. So it is done only while a sample of the records shows
// that many repeat. Repeats that it does not find are counted together after the sort.
type dedup struct {
	slots []slot // by hash; a new record replaces the old one in its slot
	seed  maphash.Seed
	on    bool
	left  int // records until the next decision
	seen  int // records looked up since the last one
	hits  int // found among them
}

// slot contains 32 bits of a hash in its upper half and the number of an entry in its lower half. An
// empty slot is 0.
type slot uint64

const slotSize = 8 // bytes

// The lookup is decided anew at these intervals, in records: after a sample, after a stretch without
// lookups because too few records of the sample repeated, and after a stretch with lookups. Lookups
// pay if one record in dedupPays repeats (measured with records of 8 bytes).
const (
	dedupSample = 4 << 10
	dedupSkip   = 252 << 10
	dedupKeep   = 64 << 10
	dedupPays   = 4
)

// maxSlots bounds the table, so that it about fits the cache of a core.
const maxSlots = 1 << 18

// newDedup returns a dedup whose table is in mem. The number of slots is a power of two.
func newDedup(mem []byte) dedup {
	n := 1
	for n*2*slotSize <= len(mem) && n*2 <= maxSlots {
		n *= 2
	}
	g := dedup{slots: viewSlots(mem, n), seed: maphash.MakeSeed(), on: true, left: dedupSample}
	clear(g.slots)
	return g
}

// active reports whether the next record is to be looked up.
func (g *dedup) active() bool {
	if g.left == 0 {
		g.decide()
	}
	g.left--
	return g.on
}

func (g *dedup) decide() {
	switch {
	case !g.on:
		g.on, g.left = true, dedupSample
	case g.hits*dedupPays >= g.seen:
		g.left = dedupKeep
	default:
		g.on, g.left = false, dedupSkip
	}
	g.seen, g.hits = 0, 0
}

// repeat returns true if the line is in b already, and increments the count of its entry. If it is
// not, repeat records that the line becomes b's next entry, and returns false.
func (g *dedup) repeat(b *buffer, line []byte) bool {
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
