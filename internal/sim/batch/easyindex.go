package batch

import "math"

// index finds among waiting jobs the first to arrive, or the shortest, of those that need
// no more than so many nodes and so much time. Jobs of as many nodes are a class: a row of
// times in the order of arrival; and the classes' shortest times are a row by nodes. So a
// search that finds nothing takes time logarithmic in the numbers of jobs and of nodes, and
// one that finds something this for each number of nodes of which a job would do.
type index struct {
	line    *line
	classes []*class // by nodes; nil: there never was a job of so many
	short   lows     // by nodes: the shortest time
}

// class is the jobs of as many nodes.
type class struct {
	times lows
	turns []int64 // by place in the row; of some the jobs have gone
	live  int     // how many are there
}

// noTurn is the turn of no job: later than all others.
const noTurn int64 = math.MaxInt64

func newIndex(l *line, nodes int) index {
	return index{line: l, classes: make([]*class, nodes+1), short: newLows(nodes + 1)}
}

// grow makes room for jobs of so many nodes.
func (x *index) grow(nodes int) {
	short := newLows(nodes + 1)
	for n, c := range x.classes {
		if c != nil {
			short.set(n, c.times.min())
		}
	}
	x.short = short
	x.classes = append(x.classes, make([]*class, nodes+1-len(x.classes))...)
}

// add puts in the job of a turn, which is later than those of all that are there.
func (x *index) add(turn int64, nodes int, d int64) {
	if nodes >= len(x.classes) {
		x.grow(nodes)
	}
	c := x.classes[nodes]
	if c == nil {
		c = &class{times: newLows(span), turns: make([]int64, 0, span)}
		x.classes[nodes] = c
	}
	if len(c.turns) == cap(c.turns) {
		x.pack(c)
	}
	d = min(d, absent-1)
	x.line.wait(turn).at = int32(len(c.turns))
	c.times.set(len(c.turns), d)
	c.turns = append(c.turns, turn)
	c.live++
	if d < x.short.levels[0][nodes] {
		x.short.set(nodes, d)
	}
}

// pack moves the jobs of a full class together, to twice the room if more than half of it
// is taken; so there is room for as many again before the next time.
func (x *index) pack(c *class) {
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
		x.line.wait(turn).at = int32(len(turns))
		turns = append(turns, turn)
	}
	c.times, c.turns = times, turns
}

// remove takes out the job of a turn.
func (x *index) remove(turn int64, nodes int) {
	c, at := x.classes[nodes], int(x.line.wait(turn).at)
	d := c.times.levels[0][at]
	c.times.set(at, absent)
	if c.live--; c.live == 0 {
		c.turns = c.turns[:0]
	}
	if d == x.short.levels[0][nodes] {
		x.short.set(nodes, c.times.min())
	}
}

// any reports whether there is a job of at most so many nodes.
func (x *index) any(nodes int) bool {
	n := x.short.next(0, absent-1)
	return n >= 0 && n <= nodes
}

// first returns the turn of the first of those jobs that need at most so many nodes and so
// much time, or few nodes at most for any time; noTurn: there is none.
func (x *index) first(nodes int, d int64, few int) int64 {
	turn := noTurn
	for n := x.short.next(0, absent-1); n >= 0 && n <= few; n = x.short.next(n+1, absent-1) {
		c := x.classes[n]
		turn = min(turn, c.turns[c.times.next(0, absent-1)])
	}
	d = min(d, absent-1)
	for n := x.short.next(few+1, d); n >= 0 && n <= nodes; n = x.short.next(n+1, d) {
		c := x.classes[n]
		turn = min(turn, c.turns[c.times.next(0, d)])
	}
	return turn
}

// shortest is first for the shortest job; of equally short ones it is the first.
func (x *index) shortest(nodes int, d int64, few int) int64 {
	low := x.short.before(nodes + 1)
	if low <= min(d, absent-1) {
		return x.first(nodes, low, 0)
	}
	if low = x.short.before(few + 1); low == absent {
		return noTurn
	}
	return x.first(few, low, 0)
}
