package batch

import (
	"math"
	"slices"
)

// index finds among waiting jobs the first to arrive, or the shortest, of those that need
// no more than so many nodes and so much time, in a time that is logarithmic in the numbers
// of jobs and of nodes.
//
// Jobs of as many nodes are a class: a row of their times in the order of arrival. In large
// clusters there are wider classes besides, of 16 numbers of nodes, of 256 and so on, so
// that any range of nodes is few classes.
type index struct {
	line  *line
	tiers []tier
}

// tier is classes of as many numbers of nodes each: 1 in the first tier, then span times as many.
type tier struct {
	classes []*class // nil: there never was such a job
	short   lows     // by class: its shortest time
}

// class is jobs of similar size.
type class struct {
	times lows
	turns []int64 // by place in the row; of some the jobs have gone
	live  int     // how many are there
}

// maxTiers is enough for a million nodes, and wideTier is how many classes need no wider ones.
const (
	maxTiers = 4
	wideTier = 256
)

// noTurn is the turn of no job: later than all others.
const noTurn int64 = math.MaxInt64

func newIndex(l *line, nodes int) index {
	x := index{line: l}
	for k := range maxTiers {
		n := nodes>>(k*shift) + 1
		x.tiers = append(x.tiers, tier{make([]*class, n), newLows(n)})
		if n <= wideTier {
			break
		}
	}
	return x
}

// grow makes the index anew, with room for jobs of so many nodes.
func (x *index) grow(nodes int) {
	type entry struct {
		turn  int64
		nodes int
		d     int64
	}
	var all []entry
	for n, c := range x.tiers[0].classes {
		if c == nil {
			continue
		}
		for at, turn := range c.turns {
			if d := c.times.levels[0][at]; d != absent {
				all = append(all, entry{turn, n, d})
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return int(a.turn - b.turn) })
	*x = newIndex(x.line, nodes)
	for _, e := range all {
		x.add(e.turn, e.nodes, e.d)
	}
}

// add puts in the job of a turn, which is later than those of all that are there.
func (x *index) add(turn int64, nodes int, d int64) {
	if nodes >= len(x.tiers[0].classes) {
		x.grow(nodes)
	}
	d = min(d, absent-1)
	for k := range x.tiers {
		t, n := &x.tiers[k], nodes>>(k*shift)
		c := t.classes[n]
		if c == nil {
			c = &class{times: newLows(span), turns: make([]int64, 0, span)}
			t.classes[n] = c
		}
		if len(c.turns) == cap(c.turns) {
			x.pack(k, c)
		}
		x.line.wait(turn).at[k] = int32(len(c.turns))
		c.times.set(len(c.turns), d)
		c.turns = append(c.turns, turn)
		c.live++
		if d < t.short.levels[0][n] {
			t.short.set(n, d)
		}
	}
}

// pack moves the jobs of a full class together, to twice the room if more than half of it
// is taken; so there is room for as many again before the next time.
func (x *index) pack(tier int, c *class) {
	times, turns := c.times, c.turns[:0]
	if 2*c.live > cap(c.turns) {
		times = newLows(2 * cap(c.turns))
		turns = make([]int64, 0, 2*cap(c.turns))
	}
	for at, turn := range c.turns {
		d := c.times.levels[0][at]
		if d == absent {
			continue
		}
		c.times.set(at, absent)
		times.set(len(turns), d)
		x.line.wait(turn).at[tier] = int32(len(turns))
		turns = append(turns, turn)
	}
	c.times, c.turns = times, turns
}

// remove takes out the job of a turn.
func (x *index) remove(turn int64, nodes int) {
	for k := range x.tiers {
		t, n := &x.tiers[k], nodes>>(k*shift)
		c, at := t.classes[n], int(x.line.wait(turn).at[k])
		d := c.times.levels[0][at]
		c.times.set(at, absent)
		if c.live--; c.live == 0 {
			c.turns = c.turns[:0]
		}
		if d == t.short.levels[0][n] {
			t.short.set(n, c.times.min())
		}
	}
}

// any reports whether there is a job of at most so many nodes.
func (x *index) any(nodes int) bool {
	n := x.tiers[0].short.next(0, absent-1)
	return n >= 0 && n <= nodes
}

// first returns the turn of the first of those jobs that need at most so many nodes and so
// much time, or few nodes at most for any time; noTurn: there is none.
func (x *index) first(nodes int, d int64, few int) int64 {
	return min(x.within(0, few+1, absent-1), x.within(few+1, nodes+1, min(d, absent-1)))
}

// within returns the first turn of jobs of from nodes until less than to, that need at most d.
// Of each tier it looks at what is not made up of whole classes of the next.
func (x *index) within(from, to int, d int64) int64 {
	turn := noTurn
	for k := range x.tiers {
		t := &x.tiers[k]
		if k == len(x.tiers)-1 {
			return min(turn, t.within(from, to, d))
		}
		up, down := (from+span-1)>>shift, to>>shift
		if up >= down {
			return min(turn, t.within(from, to, d))
		}
		turn = min(turn, t.within(from, up<<shift, d), t.within(down<<shift, to, d))
		from, to = up, down
	}
	return turn
}

// within is the same of whole classes.
func (t *tier) within(from, to int, d int64) int64 {
	turn := noTurn
	for n := t.short.next(from, d); n >= 0 && n < to; n = t.short.next(n+1, d) {
		c := t.classes[n]
		turn = min(turn, c.turns[c.times.next(0, d)])
	}
	return turn
}

// shortest is first for the shortest job; of equally short ones it is the first.
func (x *index) shortest(nodes int, d int64, few int) int64 {
	low := x.tiers[0].short.before(nodes + 1)
	if low <= min(d, absent-1) {
		return x.within(0, nodes+1, low)
	}
	if low = x.tiers[0].short.before(few + 1); low == absent {
		return noTurn
	}
	return x.within(0, few+1, low)
}
