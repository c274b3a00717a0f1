package front

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"berth/internal/core/predict/rented"
)

// fewSteps and manySteps are how many boxes are cut in a slice before it is cut, and before the narrowest is given up.
const fewSteps, manySteps = 20, 250

// box is all configurations with low[i] to high[i] machines of each kind i, and what is known of those whose makespan
// is in the slice and that no known point dominates.
type box struct {
	low, high []int
	start     rented.Start // upper bounds
	tail      float64      // seconds, lower bound
	least     float64      // cost, lower bound
	price     float64      // marginal cost of a task
}

// boxes is a heap of boxes, the one of the least bound first.
type boxes []*box

func (b boxes) Len() int           { return len(b) }
func (b boxes) Less(i, j int) bool { return b[i].least < b[j].least }
func (b boxes) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *boxes) Push(x any)        { *b = append(*b, x.(*box)) }
func (b *boxes) Pop() any {
	old := *b
	last := old[len(old)-1]
	*b = old[:len(old)-1]
	return last
}

// measure is a value of a machine of each kind, and the kinds in the order of that value for a task that they begin.
type measure struct {
	value []float64
	order []int
}

// cover is the search of a slice by boxes.
type cover struct {
	*search
	low, up                     float64
	costs, rates, slots, moving measure
	instants                    []measure // by instant of the grid: −log of the probability that a machine is done
	begun                       []float64 // by kind: tasks that a machine begins at most in the present box
	best                        []float64 // scratch, by instant
	need                        float64   // of the present box: tasks that machines begin, without contention
}

// newCover returns the search of the makespans in [low, up).
func (s *search) newCover(low, up float64) *cover {
	c := &cover{search: s, low: low, up: up, begun: make([]float64, len(s.kinds)), best: make([]float64, len(s.grid))}
	c.begin(alone, 0)
	c.costs = c.measure(func(i int) float64 { return s.kinds[i].Bill(low) })
	c.rates = c.measure(func(i int) float64 { return s.kinds[i].rate })
	c.slots = c.measure(func(i int) float64 { return float64(s.kinds[i].Slots) })
	c.moving = c.measure(func(i int) float64 { return s.kinds[i].rate * s.kinds[i].transfer })
	for j := range s.grid {
		c.instants = append(c.instants, c.measure(func(i int) float64 { return -s.kinds[i].logs[j] }))
	}
	return c
}

// measure sorts the kinds by a value of their machines for a task.
func (c *cover) measure(value func(i int) float64) (m measure) {
	keys := make([]float64, len(c.kinds))
	for i := range c.kinds {
		v := value(i)
		m.value = append(m.value, v)
		m.order = append(m.order, i)
		keys[i] = v / c.begun[i]
		if c.begun[i] <= 0 {
			keys[i] = math.Inf(1)
		}
	}
	slices.SortStableFunc(m.order, func(i, j int) int { return cmp.Compare(keys[i], keys[j]) })
	return m
}

// begin sets how many tasks a machine of each kind begins at most.
func (c *cover) begin(start rented.Start, tail float64) {
	c.need = float64(c.bag.Tasks) / start.Slowed
	for i := range c.kinds {
		k := &c.kinds[i]
		c.begun[i] = 0
		if seconds := c.up - tail - k.boot; seconds > 0 {
			c.begun[i] = math.Max(0, k.rate*seconds+start.Credit*k.credit)
		}
	}
}

// least returns a lower bound of the sum of a value over all configurations in the box that begin enough tasks, and the
// Lagrange multiplier that gives it: +Inf where there is none.
func (c *cover) least(b *box, m *measure) (sum, price float64) {
	left := c.need
	for i, n := range b.low {
		left -= float64(n) * c.begun[i]
	}
	tiny := 1e-9 * c.need
	for _, i := range m.order {
		if left <= tiny {
			break
		}
		if n := b.high[i] - b.low[i]; n > 0 && c.begun[i] > 0 {
			price = math.Max(price, m.value[i]/c.begun[i])
			left -= float64(n) * c.begun[i]
		}
	}
	if left > tiny {
		return math.Inf(1), price
	}
	sum = price * c.need
	for i, v := range m.value {
		if v -= price * c.begun[i]; v > 0 {
			sum += float64(b.low[i]) * v
		} else {
			sum += float64(b.high[i]) * v
		}
	}
	return sum, price
}

// most returns an upper bound of the sum of a value over all configurations in the box that cost no more than that.
func (c *cover) most(b *box, m *measure, money float64) float64 {
	low, high, ratio := 0.0, 0.0, 0.0
	for i, v := range m.value {
		low += float64(b.low[i]) * v
		high += float64(b.high[i]) * v
		money -= float64(b.low[i]) * c.costs.value[i]
		if b.high[i] > b.low[i] {
			ratio = math.Max(ratio, v/c.costs.value[i])
		}
	}
	if math.IsInf(ratio, 1) || math.IsInf(money, 1) {
		return high
	}
	return math.Min(high, low+math.Max(0, money)*ratio)
}

// contention tightens the bounds of the contention at the server. It returns false where no machines suffice.
func (c *cover) contention(b *box, money float64) bool {
	rate, _ := c.least(b, &c.rates)
	few, _ := c.least(b, &c.slots)
	if math.IsInf(rate, 1) {
		return false
	}
	if c.server == 0 {
		return true
	}
	few = math.Max(1, few*(1-1e-9))
	share, least := 0.0, 1.0
	for i := range c.kinds {
		if b.high[i] > 0 {
			p := c.moving.value[i] / c.slots.value[i]
			share, least = math.Max(share, p), math.Min(least, p)
		}
	}
	share = math.Min(share, c.most(b, &c.moving, money)/few)
	bound := rented.AtBest(rented.Range{Few: int(few), Many: int(math.Ceil(c.most(b, &c.slots, money) + 1e-9)),
		LeastShare: math.Min(least, share), MostShare: share,
		LeastUse: c.server * rate, MostUse: c.server * c.most(b, &c.rates, money)}, c.bag.Spread)
	b.start.Slowed = math.Min(b.start.Slowed, bound.Slowed*(1+1e-9))
	b.start.Credit = math.Min(b.start.Credit, bound.Credit+1e-9)
	return true
}

// longest raises the lower bound of the tail.
func (c *cover) longest(b *box) bool {
	if !c.bag.Tail {
		return true
	}
	for j := range c.instants {
		l, _ := c.least(b, &c.instants[j])
		if math.IsInf(l, 1) {
			return false
		}
		c.best[j] = -math.Max(0, l)
	}
	mean, _ := c.grid.Longest(c.best)
	b.tail = math.Max(b.tail, mean*(1-1e-9))
	return true
}

// bound sets the bounds of a box. It returns false where no configuration in it is of use.
func (c *cover) bound(b *box) bool {
	cutoff := c.cutoffAt(c.low)
	for round := range 6 {
		before, tail := b.start, b.tail
		c.begin(b.start, b.tail)
		if round < 2 && !c.contention(b, cutoff-c.moved()) {
			return false
		}
		c.begin(b.start, b.tail)
		if !c.longest(b) {
			return false
		}
		c.begin(b.start, b.tail)
		sum, price := c.least(b, &c.costs)
		b.least, b.price = math.Max(b.least, sum+c.moved()), price
		if b.least >= cutoff {
			return false
		}
		changed := c.shrink(b, cutoff-sum-c.moved())
		if round > 0 && !changed && b.tail-tail < 1e-4*c.up && before.Slowed-b.start.Slowed < 1e-4 {
			break
		}
	}
	return true
}

// shrink leaves out the counts that cost more than is left: each machine more or less than the bound assumes costs its
// reduced cost.
func (c *cover) shrink(b *box, left float64) (changed bool) {
	for i, v := range c.costs.value {
		v -= b.price * c.begun[i]
		if v == 0 || b.low[i] == b.high[i] {
			continue
		}
		n := math.Floor(left/math.Abs(v)*(1+1e-9) + 1e-9)
		if n >= float64(b.high[i]-b.low[i]) {
			continue
		}
		changed = true
		if v > 0 {
			b.high[i] = b.low[i] + int(n)
		} else {
			b.low[i] = b.high[i] - int(n)
		}
	}
	return changed
}

// fraction returns the cheapest fractional configuration of the box that begins enough tasks, rounded up.
func (c *cover) fraction(b *box) []int {
	counts := slices.Clone(b.low)
	left := c.need
	for i, n := range b.low {
		left -= float64(n) * c.begun[i]
	}
	for _, i := range c.costs.order {
		if left <= 0 {
			break
		}
		if n := b.high[i] - b.low[i]; n > 0 && c.begun[i] > 0 {
			m := min(n, int(math.Ceil(left/c.begun[i])))
			counts[i] += m
			left -= float64(m) * c.begun[i]
		}
	}
	return counts
}

// try evaluates that configuration, and what it becomes with its own tail and contention in the place of their bounds.
func (c *cover) try(b *box) []int {
	first := c.fraction(b)
	counts := first
	for range 3 {
		if slices.Max(counts) == 0 {
			break
		}
		p := c.Evaluate(counts)
		c.found.add(p)
		if p.Makespan <= c.up {
			break
		}
		start, _ := c.start(counts)
		tail, _ := c.tail(counts)
		c.begin(start, tail)
		next := c.fraction(b)
		if slices.Equal(next, counts) {
			break
		}
		counts = next
	}
	c.begin(b.start, b.tail)
	return first
}

// split cuts the box into two, at the kind whose machines lengthen the tail most.
func (c *cover) split(b *box, counts []int) (one, other *box) {
	at, longer := -1, 0.0
	tail, _ := c.tail(b.low)
	scratch := slices.Clone(b.low)
	for i, n := range counts {
		if n == b.low[i] {
			continue
		}
		scratch[i] = n
		t, _ := c.tail(scratch)
		if t -= tail; at < 0 || t > longer {
			at, longer = i, t
		}
		scratch[i] = b.low[i]
	}
	if at < 0 || longer < 1e-4*c.up {
		widest := -1.0 // machines that begin nothing in time count, too: in the model they change the contention
		for i := range counts {
			if w := float64(b.high[i]-b.low[i]) * c.begun[i]; w > widest && b.low[i] < b.high[i] {
				at, widest = i, w
			}
		}
	}
	if at < 0 {
		return nil, nil
	}
	middle := (b.low[at] + min(b.high[at], 2*counts[at])) / 2
	if b.low[at] == 0 && longer >= 1e-4*c.up {
		middle = 0
	}
	middle = max(b.low[at], min(middle, b.high[at]-1))
	one, other = b.clone(), b.clone()
	one.high[at] = middle
	other.low[at] = middle + 1
	return one, other
}

// clone returns a box that shares nothing with this one.
func (b *box) clone() *box {
	c := *b
	c.low, c.high = slices.Clone(b.low), slices.Clone(b.high)
	return &c
}

// run searches the slice until no box is of use, and returns +Inf, or the least bound of those that are left after so many
// steps.
func (c *cover) run(steps int) (least float64) {
	b := &box{low: make([]int, len(c.kinds)), high: make([]int, len(c.kinds)), start: alone}
	for i := range c.kinds {
		b.high[i] = c.kinds[i].Limit
	}
	var open boxes
	push := func(b *box) {
		if c.bound(b) {
			heap.Push(&open, b)
		}
	}
	push(b)
	for ; len(open) > 0; steps-- {
		b := open[0]
		if b.least >= c.cutoffAt(c.low) {
			break
		}
		if steps <= 0 {
			return b.least
		}
		heap.Pop(&open)
		c.begin(b.start, b.tail)
		counts := c.try(b)
		one, other := c.split(b, counts)
		if one == nil {
			continue
		}
		push(one)
		push(other)
	}
	return math.Inf(1)
}

// cutoffAt returns the cost from which on a configuration with at least that makespan has a known point within epsilon.
func (s *search) cutoffAt(low float64) float64 {
	return s.found.cheapest(low*(1+s.epsilon)) / (1 + s.epsilon) * (1 + 1e-12)
}

// wide searches the makespans in [low, up) up to epsilon, in slices that are as wide as a few steps suffice for.
func (s *search) wide(low, up float64) {
	for low < up {
		next := up
		for {
			narrow := next/low-1 <= s.epsilon/4
			steps := fewSteps
			if narrow {
				steps = manySteps
			}
			least := s.newCover(low, next).run(steps)
			if math.IsInf(least, 1) {
				break
			}
			if narrow {
				s.giveUp(low, least)
				break
			}
			next = math.Sqrt(low * next)
		}
		low = next
	}
}

// giveUp raises s.within so that it holds for all configurations with at least that makespan and that cost.
func (s *search) giveUp(low, least float64) {
	for s.found.cheapest(low*(1+s.within)) > least*(1+s.within) {
		s.within *= 1.02
	}
}
