package timeline

import (
	"math"
	"slices"
	"time"

	"berth/internal/job"
)

// RiseBefore returns since when at least so many nodes are free up to an instant, which is
// the instant itself where that is not so just before it.
func (t *Timeline) RiseBefore(at job.Time, nodes int) job.Time {
	if at <= t.from || t.At(at-1) < nodes {
		return at
	}
	since, ok := t.tree.rise(t.tree.top, t.tree.root, t.base, at, nodes)
	if !ok {
		return t.from
	}
	return since
}

// rise returns the last change below a block and before an instant that leads from fewer
// than nodes to as many or more. The value before the block is given.
func (t *tree) rise(level int, id int32, value int, at job.Time, nodes int) (job.Time, bool) {
	if level == 0 {
		b := &t.leaves.blocks[id]
		i := 0
		for ; i < b.n && b.e[i].at < at; i++ {
			value += b.e[i].by
		}
		for i--; i >= 0; i-- {
			value -= b.e[i].by
			if value < nodes {
				return b.e[i].at, true
			}
		}
		return 0, false
	}
	b := &t.inners.blocks[id]
	i := 0
	for ; i < b.n && b.e[i].at < at; i++ {
		value += b.e[i].sum
	}
	for i--; i >= 0; i-- {
		e := &b.e[i]
		value -= e.sum
		if value < nodes || value+e.lo < nodes {
			if since, ok := t.rise(level-1, e.kid, value, at, nodes); ok {
				return since, true
			}
		}
	}
	return 0, false
}

// far is how many steps Around looks at on either side, at most.
const far = 64

// Around appends the steps about a stretch of time, from where a node is free up to it until
// where none is any more after it. The last one, of no nodes, is the end. It does not look
// further than a given time to either side, nor at many steps: all nodes count as free beyond.
func (t *Timeline) Around(from, to job.Time, reach time.Duration, steps []Step) []Step {
	from = max(from, t.from)
	mark, value := len(steps), t.At(from)
	steps = t.leftOf(from, reach, value, steps)
	slices.Reverse(steps[mark:])
	return t.rightOf(from, to, reach, value, steps)
}

// leftOf appends the steps that begin at an instant or before, the last one first.
func (t *Timeline) leftOf(from job.Time, reach time.Duration, value int, steps []Step) []Step {
	first, mark := max(t.from, before(from, reach)), len(steps)
	over := t.tree.backward(t.tree.top, t.tree.root, from, func(c change) bool {
		steps = append(steps, Step{c.at, value})
		value -= c.by
		return value > 0 && c.at > first && len(steps)-mark < far
	})
	switch n := len(steps); {
	case over && (value > 0 || n == mark):
		steps = append(steps, Step{t.from, value})
	case !over && value > 0 && steps[n-1].Start > first:
		steps = append(steps, Step{first, math.MaxInt})
	}
	return steps
}

// rightOf appends the steps that begin after an instant, and the end.
func (t *Timeline) rightOf(from, to job.Time, reach time.Duration, value int, steps []Step) []Step {
	last, mark, end := After(to, reach), len(steps), Never
	t.tree.forward(t.tree.top, t.tree.root, from, func(c change) bool {
		value += c.by
		if c.at >= last || c.at >= to && value <= 0 {
			end = c.at
			return false
		}
		if len(steps)-mark == far {
			value = math.MaxInt
		}
		steps = append(steps, Step{c.at, value})
		return len(steps)-mark <= far
	})
	return append(steps, Step{end, 0})
}

// before returns the instant d before t, that of the beginning of all times where there is none.
func before(t job.Time, d time.Duration) job.Time {
	if t < math.MinInt64+job.Time(d) {
		return math.MinInt64
	}
	return t.Add(-d)
}

// forward calls yield with the changes below a block after an instant, in order, as long as
// it returns true.
func (t *tree) forward(level int, id int32, after job.Time, yield func(change) bool) bool {
	if level == 0 {
		b := &t.leaves.blocks[id]
		for i := range b.n {
			if b.e[i].at > after && !yield(b.e[i]) {
				return false
			}
		}
		return true
	}
	b := &t.inners.blocks[id]
	for i := kidAt(b, after); i < b.n; i++ {
		if !t.forward(level-1, b.e[i].kid, after, yield) {
			return false
		}
	}
	return true
}

// backward calls yield with the changes below a block at an instant and before, the last one
// first, as long as it returns true.
func (t *tree) backward(level int, id int32, until job.Time, yield func(change) bool) bool {
	if level == 0 {
		b := &t.leaves.blocks[id]
		for i := b.n - 1; i >= 0; i-- {
			if b.e[i].at <= until && !yield(b.e[i]) {
				return false
			}
		}
		return true
	}
	b := &t.inners.blocks[id]
	if b.n == 0 {
		return true
	}
	for i := kidAt(b, until); i >= 0; i-- {
		if !t.backward(level-1, b.e[i].kid, until, yield) {
			return false
		}
	}
	return true
}
