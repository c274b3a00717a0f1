package front

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// fewSteps and manySteps are how many boxes are cut in a slice before it is cut, and before the narrowest is given up.
const fewSteps, manySteps = 20, 250

// cover is the search of a slice by boxes.
type cover struct {
	*search
	low, up float64
	whole   *box // all configurations
	costs   measure
	parts   []part    // by phase
	begun   []float64 // by kind: tasks that a machine begins at most in the present box
	need    float64   // of the present box: tasks that machines begin, without contention
}

// part is a phase in the search of a slice.
type part struct {
	*Model
	rates, slots, moving measure
	instants             []measure // by instant of the grid: −log of the probability that a machine is done
	best                 []float64 // scratch, by instant
	cheapest             []int     // kinds, those first whose machines have the least cost for their rate
	shortest             float64   // seconds that all machines together need at least, from before the first one is ready
	longest              float64   // scratch: seconds that the phase may take
	credit               float64   // scratch: seconds by which machines are further than their rate says, at most
}

// newCover returns the search of the makespans in [low, up).
func (s *search) newCover(low, up float64) *cover {
	c := &cover{search: s, low: low, up: up, begun: make([]float64, len(s.kinds))}
	for _, f := range s.phases {
		rate := 0.0
		for i := range f.kinds {
			rate += f.kinds[i].rate * float64(s.kinds[i].Limit)
		}
		c.parts = append(c.parts, part{Model: f, shortest: float64(f.bag.Tasks) / rate, best: make([]float64, len(f.grid))})
	}
	c.whole = s.all()
	for range c.parts { // the shares depend on the costs, and the costs of a task on the shares
		c.begin(c.whole)
		c.costs = c.measure(func(i int) float64 { return s.kinds[i].Bill(low) })
		c.shares(c.whole, c.fraction(c.whole))
	}
	c.begin(c.whole)
	for at := range c.parts {
		p := &c.parts[at]
		p.rates = c.measure(func(i int) float64 { return p.kinds[i].rate })
		p.slots = c.measure(func(i int) float64 { return float64(p.kinds[i].Slots) })
		p.moving = c.measure(func(i int) float64 { return p.kinds[i].rate * p.kinds[i].transfer })
		for j := range p.grid {
			p.instants = append(p.instants, c.measure(func(i int) float64 { return -p.kinds[i].logs[j] }))
		}
		p.cheapest = slices.Clone(c.costs.order)
		slices.SortStableFunc(p.cheapest, func(i, j int) int {
			return cmp.Compare(c.costs.value[i]*p.kinds[j].rate, c.costs.value[j]*p.kinds[i].rate)
		})
	}
	return c
}

// run searches the slice until no box is of use, and returns +Inf, or the least bound of those that are left after so many
// steps.
func (c *cover) run(steps int) (least float64) {
	var open boxes
	push := func(b *box) {
		if c.bound(b) {
			heap.Push(&open, b)
		}
	}
	push(c.whole.clone())
	for ; len(open) > 0; steps-- {
		b := open[0]
		if b.least >= c.cutoffAt(c.low) {
			break
		}
		if steps <= 0 {
			return b.least
		}
		heap.Pop(&open)
		c.begin(b)
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
