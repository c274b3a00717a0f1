package timeline

import (
	"time"

	"berth/internal/job"
)

// sum returns the sum of the changes up to and at an instant.
func (t *tree) sum(at job.Time) int {
	sum, id := 0, t.root
	for range t.top {
		b := &t.inners.blocks[id]
		i := kidAt(b, at)
		for k := range i {
			sum += b.e[k].sum
		}
		id = b.e[i].kid
	}
	b := &t.leaves.blocks[id]
	for i := 0; i < b.n && b.e[i].at <= at; i++ {
		sum += b.e[i].by
	}
	return sum
}

// least returns the least value, times a sign, but best if that is less, that changes after from
// and before to lead to. The value before the changes below the block is given.
func (t *tree) least(level int, id int32, value int, from, to job.Time, best, sign int) int {
	if level == 0 {
		b := &t.leaves.blocks[id]
		for i := 0; i < b.n && b.e[i].at < to; i++ {
			value += b.e[i].by
			if b.e[i].at > from {
				best = min(best, sign*value)
			}
		}
		return best
	}
	b := &t.inners.blocks[id]
	for i := 0; i < b.n && b.e[i].at < to; i++ {
		e := &b.e[i]
		inside := i+1 < b.n && b.e[i+1].at <= to
		low := min(sign*(value+e.lo), sign*(value+e.hi))
		switch {
		case low >= best || (i+1 < b.n && b.e[i+1].at <= from):
		case inside && e.at > from:
			best = low
		default:
			best = t.least(level-1, e.kid, value, from, to, best, sign)
		}
		value += e.sum
	}
	return best
}

// fit is a search for the first stretch of time d in which the value never is below
// nodes. It goes through the changes once, from left to right. What is below an entry
// is looked at only where it can hold an answer: not if it is all too low or all high
// enough, and not if it has a low value and ends within d, for then a stretch can only
// begin after the last low value in it.
type fit struct {
	tree  *tree
	nodes int
	d     time.Duration
	from  job.Time
	until job.Time // what begins after need not be found
	own   job.Time // from then on there are enough nodes

	found bool     // start is the beginning of a stretch that is high enough up to now
	start job.Time // not before from
	end   job.Time // when the stretch is long enough
}

// open begins a stretch, unless one has begun.
func (f *fit) open(at job.Time) {
	if !f.found {
		f.found, f.start = true, max(at, f.from)
		f.end = min(After(f.start, f.d), f.own)
	}
}

// search continues the search below a block; it reports whether it is over. The value
// before the block and the time of the first change after it are given.
func (f *fit) search(level int, id int32, value int, next job.Time) bool {
	if level == 0 {
		return f.scan(&f.tree.leaves.blocks[id], value)
	}
	b := &f.tree.inners.blocks[id]
	i := kidAt(b, f.from)
	for k := range i {
		value += b.e[k].sum
	}
	if i > 0 {
		f.found = false
		if value >= f.nodes {
			f.open(f.from)
		}
	}
	for ; i < b.n; i++ {
		e := &b.e[i]
		if f.found && e.at >= f.end || !f.found && e.at > f.until {
			return true
		}
		end := next
		if i+1 < b.n {
			end = b.e[i+1].at
		}
		if f.below(level-1, e, value, end) {
			return true
		}
		value += e.sum
	}
	return false
}

// below continues the search with what is below an entry, the end of which is given.
func (f *fit) below(level int, e *branch, value int, end job.Time) bool {
	start := max(e.at, f.from)
	if f.found {
		start = f.start
	}
	switch {
	case value+e.hi < f.nodes:
		f.found = false
	case value+e.lo >= f.nodes:
		f.open(e.at)
	case end <= min(After(start, f.d), f.own):
		f.found = false
		if value+e.sum >= f.nodes {
			f.open(f.tree.lastRise(level, e.kid, value, f.nodes))
		}
	default:
		return f.search(level, e.kid, value, end)
	}
	return false
}

func (f *fit) scan(b *block[change], value int) bool {
	for _, c := range b.e[:b.n] {
		if f.found && c.at >= f.end {
			return true
		}
		value += c.by
		if value < f.nodes {
			f.found = false
		} else if !f.found {
			f.open(c.at)
		}
	}
	return false
}

// lastRise returns the time of the change after the last one below a block that leads
// to fewer than nodes, where there is such a one and it is not the last.
func (t *tree) lastRise(level int, id int32, value int, nodes int) job.Time {
	next := Never
	for ; level > 0; level-- {
		b := &t.inners.blocks[id]
		for i := range b.n {
			value += b.e[i].sum
		}
		i := b.n
		for {
			i--
			value -= b.e[i].sum
			if value+b.e[i].lo < nodes {
				break
			}
			next = b.e[i].at
		}
		id = b.e[i].kid
	}
	b := &t.leaves.blocks[id]
	for _, c := range b.e[:b.n] {
		value += c.by
	}
	i := b.n - 1
	for ; value >= nodes; i-- {
		next = b.e[i].at
		value -= b.e[i].by
	}
	return next
}

// each calls f with every change below a block, in order.
func (t *tree) each(level int, id int32, f func(change)) {
	if level == 0 {
		b := &t.leaves.blocks[id]
		for _, c := range b.e[:b.n] {
			f(c)
		}
		return
	}
	b := &t.inners.blocks[id]
	for _, e := range b.e[:b.n] {
		t.each(level-1, e.kid, f)
	}
}
