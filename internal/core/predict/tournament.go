package predict

import (
	"math"
	"math/bits"
)

// tournament keeps the slots of a stage in a tree of losers (D. Knuth, The Art of Computer Programming, vol. 3,
// section 5.4.1): the slot that is free first is at the top, among equal ones the one with the lowest number. A plan
// spends most of its time here, so a slot is one number: its time with its index in place of the lowest bits. Matches
// on the way up then need no branches, which could not be predicted. Times that differ by less than those bits (2⁻⁴²
// of the time with a thousand slots) count as equal.
type tournament struct {
	nodes  []uint64 // the loser of each match; at 0 the overall winner
	won    []uint64 // reused
	leaves uint64   // a power of two
}

// gone stands for a slot that is removed.
const gone = math.MaxUint64

// orderOf returns a number that is less for earlier times.
func orderOf(t float64) uint64 {
	b := math.Float64bits(t)
	return b ^ (uint64(int64(b)>>63) | 1<<63) //nolint:gosec // the sign, spread
}

// build builds the tree.
func (t *tournament) build(slots []slot) {
	t.leaves = 1 << bits.Len(uint(max(len(slots)-1, 0))) //nolint:gosec // not negative
	n := int(t.leaves)                                   //nolint:gosec // likewise
	t.nodes, t.won = resized(t.nodes, n), resized(t.won, 2*n)
	for i := range n {
		t.won[n+i] = gone
		if i < len(slots) {
			t.won[n+i] = t.contender(i, slots[i].free)
		}
	}
	for i := n - 1; i > 0; i-- {
		a, b := t.won[2*i], t.won[2*i+1]
		t.won[i], t.nodes[i] = min(a, b), max(a, b)
	}
	t.nodes[0] = t.won[1]
}

func resized(c []uint64, n int) []uint64 {
	if cap(c) < n {
		return make([]uint64, n)
	}
	return c[:n]
}

// contender returns the number of a slot that is free at a time.
func (t *tournament) contender(slot int, free float64) uint64 {
	return orderOf(free)&^(t.leaves-1) | uint64(slot) //nolint:gosec // not negative
}

// top returns the slot that is free first; false if there is none.
func (t *tournament) top() (slot int, ok bool) {
	return int(t.nodes[0] & (t.leaves - 1)), t.nodes[0] != gone //nolint:gosec // less than there are slots
}

// setFree sets when the slot at the top is free next.
func (t *tournament) setFree(slot int, free float64) { t.replay(slot, t.contender(slot, free)) }

// removeTop removes the slot at the top.
func (t *tournament) removeTop(slot int) { t.replay(slot, gone) }

func (t *tournament) replay(slot int, c uint64) {
	for i := (uint64(slot) + t.leaves) / 2; i > 0; i /= 2 { //nolint:gosec // not negative
		o := t.nodes[i]
		t.nodes[i] = max(c, o)
		c = min(c, o)
	}
	t.nodes[0] = c
}
