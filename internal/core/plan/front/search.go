package front

import (
	"cmp"
	"math"
	"slices"
)

// manyChoices and manyOfPhases are the numbers of configurations above which a front is approximate unless an exact one is requested, of a bag
// and of a job of several phases.
const manyChoices, manyOfPhases = 1e11, 1e5

// Epsilon returns the epsilon with which the front is searched in a few seconds: 0 up to that many configurations.
func (m *Model) Epsilon() float64 {
	n, many := 1.0, manyChoices
	if len(m.phases) > 1 {
		many = manyOfPhases
	}
	for i := range m.kinds {
		n *= float64(m.kinds[i].Limit + 1)
	}
	if n > many {
		return 0.01
	}
	return 0
}

// Search returns the front of all configurations within the limits of the types. With epsilon 0 it is exact.
// Otherwise the set has, for each configuration, a point whose cost and makespan are at most 1+within times as large;
// within is epsilon, or more where the search of a slice was given up because it took too long.
//
// The possible makespans are cut into slices [low, up). A configuration with a makespan in a slice begins all tasks
// in time, which is a linear condition on the counts, and costs at least the price of its machines for low seconds.
// Lagrange multipliers give a lower bound of the cost of all completions of a partial configuration (bound). A
// partial configuration is pruned where a known point that is faster costs no more. With epsilon, boxes of counts take
// the place of partial configurations (box.go). The exact front of a job of several phases is that of all configurations.
func (m *Model) Search(epsilon float64) (found Set, within float64) {
	if len(m.phases) > 1 && epsilon == 0 {
		return m.enumerate(), 0
	}
	s := &search{Model: m, epsilon: epsilon, within: epsilon, counts: make([]int, len(m.kinds))}
	s.order = slices.Clone(m.byBoot)
	slices.SortStableFunc(s.order, func(i, j int) int { return -cmp.Compare(m.cycle(i), m.cycle(j)) })
	s.place = make([]int, len(s.order))
	for d, i := range s.order {
		s.place[i] = d
	}
	for range len(m.kinds) + 1 {
		s.done = append(s.done, make([]float64, len(m.grid)))
	}
	for j := range s.done[0] {
		s.done[0][j] = 1
	}
	s.power = make([][][]float64, len(m.kinds))
	s.alone()
	s.fastest()
	low, up := s.span()
	if epsilon > 0 {
		for at := low; at < up; {
			next := s.cut(at, at*(1+coarse))
			s.wide(at, next)
			at = next
		}
		return s.found, s.within
	}
	for at := low; at < up; at *= 1 + coarse {
		s.between(at, at*(1+coarse), 0)
	}
	return s.found, s.within
}

// enumerate returns the front by evaluating all configurations.
func (m *Model) enumerate() (found Set) {
	counts := make([]int, len(m.kinds))
	for {
		i := 0
		for i < len(counts) && counts[i] == m.kinds[i].Limit {
			counts[i] = 0
			i++
		}
		if i == len(counts) {
			return found
		}
		counts[i]++
		found.add(m.Evaluate(counts))
	}
}

// between searches the makespans in [low, up). It cuts the slice into two where the bounds of the whole are too weak.
// tail is a lower bound of the tail of all configurations in it.
func (s *search) between(low, up, tail float64) {
	c, ok := s.newSlice(low, up, tail)
	if !ok {
		return
	}
	s.now = &c
	if s.bound(0, 0, c.tail) >= s.cutoff() {
		return
	}
	if s.seed(&c); s.bound(0, 0, c.tail) >= s.cutoff() {
		return
	}
	middle := s.cut(low, up)
	s.left = maxSteps
	if up/low-1 <= finest {
		s.left = math.MaxInt
	}
	if middle == up {
		s.from(0, 0, c.tail)
		if s.left >= 0 {
			return
		}
		middle = math.Sqrt(low * up)
	}
	s.between(low, middle, c.tail)
	s.between(middle, up, c.tail)
}

// cycle returns the time of a task on a slot of kind i, in seconds, without contention.
func (m *Model) cycle(i int) float64 { return float64(m.kinds[i].Slots) / m.kinds[i].rate }

// search is the state of a search of the front.
type search struct {
	*Model
	epsilon float64
	within  float64 // see Search
	found   Set
	order   []int   // kinds in the order in which counts are chosen: slow machines first, because they determine the tail
	place   []int   // by kind: its place in order
	now     *slice  // the current slice
	useless float64 // see cutoff
	left    int     // steps until the slice is cut into two
	counts  []int   // chosen so far

	done  [][]float64   // by depth: the probability that the machines chosen so far are done, at each instant of the grid
	power [][][]float64 // by kind and number of machines, see powers
}

// alone evaluates all configurations of one type.
func (s *search) alone() {
	for i := range s.kinds {
		for n := 1; n <= s.kinds[i].Limit; n++ {
			s.counts[i] = n
			s.found.add(s.Evaluate(s.counts))
		}
		s.counts[i] = 0
	}
}

// fastest evaluates configurations near the fastest one: all machines, with fewer and fewer of the slow ones, which
// lengthen the tail.
func (s *search) fastest() {
	const parts = 16
	for i := range s.kinds {
		s.counts[i] = s.kinds[i].Limit
	}
	for _, i := range s.order {
		best, at := math.Inf(1), s.counts[i]
		for n := range parts + 1 {
			s.counts[i] = s.kinds[i].Limit * n / parts
			if slices.Max(s.counts) == 0 {
				continue
			}
			p := s.Evaluate(s.counts)
			s.found.add(p)
			if p.Makespan < best {
				best, at = p.Makespan, s.counts[i]
			}
		}
		s.counts[i] = at
	}
	clear(s.counts)
}

// cutoff sets and returns the cost from which on a configuration with a makespan in the slice is dominated. Bounds are rounded, so
// that one may be a little above the cost that it bounds.
func (s *search) cutoff() float64 {
	s.useless = s.cutoffAt(s.now.low)
	return s.useless
}

// from chooses the counts of the kinds from that depth on. cost is a lower bound of the cost of the chosen machines,
// tail their tail.
func (s *search) from(depth int, cost, tail float64) {
	if s.left--; s.left < 0 {
		return
	}
	if depth == len(s.order) {
		s.leaf(tail)
		return
	}
	if again, _ := s.bounds(depth, cost, tail, s.restPrice(depth, tail)); again >= s.useless {
		return
	}
	i := s.order[depth]
	limit := s.kinds[i].Limit
	s.counts[i] = 0
	least, most := s.bounds(depth+1, cost, tail, s.now.price)
	begun := s.begins(i, s.now.up-tail)
	each := s.now.costs[i] - s.now.price*begun
	for step := 0; step <= limit && s.left >= 0; step++ {
		n := step
		if each < 0 {
			n = limit - step
		}
		// With the tail of the kinds before, the bound is linear in n and grows with each step, so all further steps are dominated.
		if least+float64(n)*each >= s.useless {
			break
		}
		if most+float64(n)*begun < s.now.need*(1-1e-9) {
			continue // even all machines of the remaining kinds are too few
		}
		s.counts[i] = n
		spent := cost + float64(n)*s.now.costs[i]
		longer := s.extend(depth, i, n, tail)
		if longer > tail && s.bound(depth+1, spent, longer) >= s.useless {
			continue
		}
		s.from(depth+1, spent, longer)
	}
	s.counts[i] = 0
}

// leaf adds the chosen configuration, unless a known point dominates it even without contention.
func (s *search) leaf(tail float64) {
	makespan := s.begun(s.counts, alone, 0) + tail
	if makespan < s.now.up*(1+1e-9) && s.cost(s.counts, makespan) < s.found.cheapest(makespan)*(1+1e-12) {
		s.found.add(s.Evaluate(s.counts))
		s.cutoff()
	}
}

// extend adds n machines of kind i to those before that depth and returns a lower bound of the tail of all of them,
// which is exact up to rounding.
func (s *search) extend(depth, i, n int, tail float64) float64 {
	before, after := s.done[depth], s.done[depth+1]
	if n == 0 || !s.bag.Tail {
		copy(after, before)
		return tail
	}
	for j, p := range s.powers(i, n) {
		after[j] = before[j] * p
	}
	return max(s.grid.LongestMean(after)*(1-1e-9), tail)
}

// mostPowers is how many rows of powers are kept for a kind.
const mostPowers = 1000

// powers returns, for each instant of the grid, the probability that n machines of kind i have finished the tasks
// that they had begun.
func (s *search) powers(i, n int) []float64 {
	if n < mostPowers {
		if s.power[i] == nil {
			s.power[i] = make([][]float64, min(s.kinds[i].Limit+1, mostPowers))
		}
		if s.power[i][n] != nil {
			return s.power[i][n]
		}
	}
	row := make([]float64, len(s.grid))
	for j, l := range s.kinds[i].logs {
		row[j] = math.Exp(float64(n) * l)
	}
	if n < mostPowers {
		s.power[i][n] = row
	}
	return row
}
