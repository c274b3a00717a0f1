package predict

import (
	"math"
	"math/bits"
)

// tournament is the slots of a stage in a tree of losers (D. Knuth, The Art of Computer
// Programming, vol. 3, section 5.4.1): the slot that is free first is at the top, of equal
// ones that of the first window. As most of what a plan costs is spent here, the matches on
// the way up are played without branches, which could not be predicted.
type tournament struct {
	nodes  []contender // of each match the loser; at 0 who won them all
	won    []contender // reused
	leaves int         // a power of two
}

// contender is a slot: when it is free (see orderOf), and its window and number.
type contender struct{ free, id uint64 }

// gone is when a slot is free that is no more.
const gone = math.MaxUint64

func (c contender) window() int { return int(c.id >> 32) }

func (c contender) slot() int { return int(c.id & math.MaxUint32) }

// orderOf returns a number that is less for earlier times.
func orderOf(t float64) uint64 {
	b := math.Float64bits(t)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// timeOf returns the time of an order.
func timeOf(o uint64) float64 {
	if o>>63 != 0 {
		return math.Float64frombits(o &^ (1 << 63))
	}
	return math.Float64frombits(^o)
}

// begin has the slots play.
func (t *tournament) begin(slots []place) {
	t.leaves = 1
	for t.leaves < len(slots) {
		t.leaves *= 2
	}
	t.nodes, t.won = resized(t.nodes, t.leaves), resized(t.won, 2*t.leaves)
	for i := range t.leaves {
		t.won[t.leaves+i] = contender{gone, uint64(i)} //nolint:gosec // not negative
		if i < len(slots) {
			p := &slots[i]
			t.won[t.leaves+i] = contender{orderOf(p.free), uint64(p.window)<<32 | uint64(i)} //nolint:gosec // likewise
		}
	}
	for i := t.leaves - 1; i > 0; i-- {
		t.won[i], t.nodes[i] = t.won[2*i], t.won[2*i+1]
		t.won[i].meet(&t.nodes[i])
	}
	t.nodes[0] = t.won[1]
}

func resized(c []contender, n int) []contender {
	if cap(c) < n {
		return make([]contender, n)
	}
	return c[:n]
}

// meet has the one be whoever is first, the other whoever is not.
func (c *contender) meet(o *contender) {
	_, less := bits.Sub64(o.id, c.id, 0)
	_, less = bits.Sub64(o.free, c.free, less)
	free, id := (c.free^o.free)&-less, (c.id^o.id)&-less
	c.free, c.id = c.free^free, c.id^id
	o.free, o.id = o.free^free, o.id^id
}

// replay has the winner play again, being free at another time.
func (t *tournament) replay(free uint64) {
	c := t.nodes[0]
	c.free = free
	for i := (c.slot() + t.leaves) / 2; i > 0; i /= 2 {
		c.meet(&t.nodes[i])
	}
	t.nodes[0] = c
}
