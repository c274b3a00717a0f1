package front

import "math"

// level is what is known of the configurations of a box whose first counts are chosen.
type level struct {
	begun []float64   // by kind: part of the work that a machine does at most
	tails []float64   // by phase: seconds, lower bound of the tail
	done  [][]float64 // by phase: the probability that the chosen machines are done, at each instant of the grid
}

// newLevels returns the levels of a search in depth of all kinds.
func (s *search) newLevels() (levels []level) {
	for range len(s.kinds) + 1 {
		l := level{begun: make([]float64, len(s.kinds)), tails: make([]float64, len(s.phases))}
		for _, f := range s.phases {
			done := make([]float64, len(f.grid))
			for j := range done {
				done[j] = 1
			}
			l.done = append(l.done, done)
		}
		levels = append(levels, l)
	}
	return levels
}

// searchDeep searches all configurations of a box by choosing the counts of one kind after another. It returns false if it gave up after so many
// steps.
func (s *search) searchDeep(b *box, steps int) bool {
	s.left, s.inside = steps, b.clone()
	first := &s.levels[0]
	for at := range b.phases {
		first.tails[at] = b.phases[at].tail
	}
	s.boundShares(s.inside)
	copy(first.begun, s.begun)
	s.useless = s.cutoffAt(s.low)
	s.from(0, s.movedPrice())
	clear(s.counts)
	return s.left >= 0
}

// from chooses the counts of the kinds from that depth on; the machines before it cost so much at least.
func (s *search) from(depth int, spent float64) {
	if s.left--; s.left < 0 {
		return
	}
	if depth == len(s.order) {
		s.leaf()
		return
	}
	l, i := &s.levels[depth], s.order[depth]
	left := 1.0
	for _, k := range s.order[:depth] {
		left -= float64(s.counts[k]) * l.begun[k]
	}
	price := s.restPrice(depth, left)
	least, most := spent+price*left, 0.0
	for _, k := range s.order[depth+1:] {
		low, high := float64(s.inside.low[k]), float64(s.inside.high[k])
		if v := s.costs.value[k] - price*l.begun[k]; v > 0 {
			least += low * v
		} else {
			least += high * v
		}
		most += max(low*l.begun[k], high*l.begun[k])
	}
	low, high := s.inside.low[i], s.inside.high[i]
	each := s.costs.value[i] - price*l.begun[i]
	for step := 0; step <= high-low && s.left >= 0; step++ {
		n := low + step
		if each < 0 {
			n = high - step
		}
		if least+float64(n)*each >= s.useless { // the bound is linear in n and grows with each step
			break
		}
		if most+float64(n)*l.begun[i] < left-1e-9 {
			continue // even all machines of the remaining kinds are too few
		}
		s.counts[i] = n
		s.extend(depth, i, n)
		s.from(depth+1, spent+float64(n)*s.costs.value[i])
	}
	s.counts[i] = 0
}

// restPrice returns the marginal cost of the work that the first chosen kinds leave to the others.
func (s *search) restPrice(depth int, left float64) (price float64) {
	l := &s.levels[depth]
	for _, i := range s.order[depth:] {
		left -= float64(s.inside.low[i]) * l.begun[i]
	}
	for _, i := range s.costs.order {
		if left <= 0 {
			return price
		}
		if n := s.inside.high[i] - s.inside.low[i]; n > 0 && l.begun[i] > 0 && s.place[i] >= depth {
			price = max(price, s.costs.value[i]/l.begun[i])
			left -= float64(n) * l.begun[i]
		}
	}
	return price
}

// extend sets the next level for n machines of kind i more.
func (s *search) extend(depth, i, n int) {
	l, next := &s.levels[depth], &s.levels[depth+1]
	longer := false
	for at := range s.parts {
		p := &s.parts[at]
		next.tails[at] = l.tails[at]
		if n == 0 || !p.bag.Tail || p.oneWave(s.inside.phases[at].slots) {
			copy(next.done[at], l.done[at])
			continue
		}
		for j, q := range p.powers(i, n) {
			next.done[at][j] = l.done[at][j] * q
		}
		if t := p.grid.LongestMean(next.done[at]) * (1 - 1e-9); t > l.tails[at] {
			next.tails[at], longer = t, true
		}
	}
	if !longer {
		copy(next.begun, l.begun)
		return
	}
	for at := range s.parts {
		s.inside.phases[at].tail = next.tails[at]
	}
	s.boundTails(s.inside)
	copy(next.begun, s.begun)
}

// leaf adds the chosen configuration, unless a known point dominates it even with the least contention in the box.
func (s *search) leaf() {
	makespan, before := 0.0, 0.0
	for at := range s.parts {
		begun, tail := s.parts[at].phaseBegun(s.counts, s.inside.phases[at].start, before), s.levels[len(s.order)].tails[at]
		if s.inside.phases[at].wave {
			makespan += max(begun, tail)
		} else {
			makespan += begun + tail
		}
		before = math.Inf(1) // later phases as if all machines were ready
	}
	if makespan < s.up*(1+1e-9) && s.cost(s.counts, makespan) < s.found.cheapest(makespan)*(1+1e-12) {
		s.found.add(s.Evaluate(s.counts))
		s.useless = s.cutoffAt(s.low)
	}
}

// mostPowers is how many rows of powers are kept for a kind.
const mostPowers = 1000

// powers returns, for each instant of the grid, the probability that n machines of kind i have finished the tasks
// that they had begun.
func (p *part) powers(i, n int) []float64 {
	if n < mostPowers && p.power[i] == nil {
		p.power[i] = make([][]float64, min(p.kinds[i].Limit+1, mostPowers))
	}
	if n < mostPowers && p.power[i][n] != nil {
		return p.power[i][n]
	}
	row := make([]float64, len(p.grid))
	for j, l := range p.kinds[i].logs {
		row[j] = math.Exp(float64(n) * l)
	}
	if n < mostPowers {
		p.power[i][n] = row
	}
	return row
}
