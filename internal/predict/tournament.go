package predict

import (
	"math"
	"math/bits"
)

// tournament is the slots of a stage in a tree of losers (D. Knuth, The Art of Computer
// Programming, vol. 3, section 5.4.1): the slot that is free first is at the top, of equal
// ones that with the lowest number. As most of what a plan costs is spent here, a slot is one
// number, its time with its own number in place of the lowest bits: so matches on the
// way up are played without branches, which could not be predicted. Times that differ by
// less than those bits, with a thousand slots 2⁻⁴² of the time, count as equal.
type tournament struct {
	nodes  []uint64 // of each match the loser; at 0 who won them all
	won    []uint64 // reused
	leaves uint64   // a power of two
}

// gone is a slot that is no more.
const gone = math.MaxUint64

// orderOf returns a number that is less for earlier times.
func orderOf(t float64) uint64 {
	b := math.Float64bits(t)
	return b ^ (uint64(int64(b)>>63) | 1<<63) //nolint:gosec // the sign, spread
}

// begin has the slots play.
func (t *tournament) begin(slots []place) {
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

// contender returns a slot that is free at a time.
func (t *tournament) contender(slot int, free float64) uint64 {
	return orderOf(free)&^(t.leaves-1) | uint64(slot) //nolint:gosec // not negative
}

// top returns the slot that is free first; false: there is none.
func (t *tournament) top() (slot int, ok bool) {
	return int(t.nodes[0] & (t.leaves - 1)), t.nodes[0] != gone //nolint:gosec // less than there are slots
}

// busy has the slot at the top play again, being free later.
func (t *tournament) busy(slot int, free float64) { t.replay(slot, t.contender(slot, free)) }

// leave takes the slot at the top away.
func (t *tournament) leave(slot int) { t.replay(slot, gone) }

func (t *tournament) replay(slot int, c uint64) {
	for i := (uint64(slot) + t.leaves) / 2; i > 0; i /= 2 { //nolint:gosec // not negative
		o := t.nodes[i]
		t.nodes[i] = max(c, o)
		c = min(c, o)
	}
	t.nodes[0] = c
}
