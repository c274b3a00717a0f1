package front

import (
	"cmp"
	"math"
	"slices"
)

const (
	// coarse and finest are the largest relative width of a slice, and the one up to which an exact search cuts it.
	coarse, finest = 0.05, 2e-4
	// fewSteps is how many boxes are cut in a slice before it is cut itself.
	fewSteps = 20
	// leastSteps and mostSteps are how many are cut in one of the narrowest slices before it is given up: a part of what is left of
	// allSteps. A box of P phases counts as 3P − 2 steps, as its time grows.
	leastSteps, mostSteps, allSteps = 250, 4000, 100000
	// deepSteps is how many steps an exact search takes in a box before the box is cut.
	deepSteps = 2000
)

// manyChoices and manyOfPhases are the numbers of configurations above which a front is approximate unless an exact one is requested,
// of a bag and of a job of several phases.
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
// The configurations are searched in boxes of counts by branch and bound: Lagrange multipliers give a lower bound of the
// cost of a box, and a box is left out where a known point that is faster costs no more. Others are cut into two (branch.go). An
// exact search chooses the counts of a small box one kind after another, with the same bounds (depth.go).
func (m *Model) Search(epsilon float64) (found Set, within float64) {
	s := m.newSearch(epsilon)
	s.fastest()
	low, up := s.span()
	for at := low; at < up; {
		next := s.cut(at, at*(1+coarse))
		s.slices(at, next)
		at = next
	}
	return s.found, s.within
}

// cycle returns the time of a task on a slot of kind i, in seconds, without contention.
func (m *Model) cycle(i int) float64 { return float64(m.kinds[i].Slots) / m.kinds[i].rate }

// search is the state of a search of the front.
type search struct {
	*Model
	epsilon float64
	within  float64 // see Search
	found   Set
	steps   int     // left of allSteps
	width   float64 // relative, of the last slice
	order   []int   // kinds in the order in which counts are chosen: slow machines first, because they determine the tail
	place   []int   // by kind: its place in order
	parts   []part

	low, up float64 // the present slice
	whole   *box    // all configurations
	costs   measure
	begun   []float64 // by kind: part of the work that a machine of the present box does at most

	counts  []int   // chosen so far
	levels  []level // by number of chosen counts
	inside  *box    // in which they are chosen
	useless float64 // the cost from which on they are dominated
	left    int     // steps until that is given up
}

// part is a phase in the search.
type part struct {
	*Model
	rates, slots   measure
	instants       []measure     // by instant of the grid: −log of the probability that a machine is done
	moving, excess []float64     // by kind: machines that move data, without contention; scratch
	best           []float64     // scratch, by instant
	power          [][][]float64 // by kind and number of machines, see powers
	fastest        []int         // kinds, those first whose tasks take least
	cheapest       []int         // kinds, those first whose machines have the least cost for their rate
	rate           float64       // tasks/s of all machines without contention
	least          float64       // scratch: seconds that the machines are the limit at least, from before the first one is ready
	tasks          float64       // scratch: tasks that are begun while the machines are the limit
	limited        float64       // scratch: see begin
	ready          float64       // scratch: seconds that the phase takes at least without its tail
	ahead          []float64     // scratch, by kind: seconds by which a machine is further than its rate says, at most
	credit         float64       // scratch: the highest of these
}

// newSearch returns a search that has found nothing.
func (m *Model) newSearch(epsilon float64) *search {
	s := &search{Model: m, epsilon: epsilon, within: epsilon, width: coarse, steps: allSteps,
		counts: make([]int, len(m.kinds)), begun: make([]float64, len(m.kinds))}
	s.order = slices.Clone(m.byBoot)
	slices.SortStableFunc(s.order, func(i, j int) int { return -cmp.Compare(m.cycle(i), m.cycle(j)) })
	s.place = make([]int, len(s.order))
	for d, i := range s.order {
		s.place[i] = d
	}
	s.levels = s.newLevels()
	for _, f := range s.phases {
		p := part{Model: f, best: make([]float64, len(f.grid)), ahead: make([]float64, len(f.kinds)),
			excess: make([]float64, len(f.kinds)), power: make([][][]float64, len(f.kinds))}
		for i := range f.kinds {
			p.rate += f.kinds[i].rate * float64(s.kinds[i].Limit)
			p.moving = append(p.moving, f.kinds[i].rate*f.kinds[i].transfer)
		}
		p.rates = s.measure(func(i int) float64 { return f.kinds[i].rate })
		p.slots = s.measure(func(i int) float64 { return float64(f.kinds[i].Slots) })
		for j := range f.grid {
			p.instants = append(p.instants, s.measure(func(i int) float64 { return -f.kinds[i].logs[j] }))
		}
		p.fastest, p.cheapest = slices.Clone(s.order), slices.Clone(s.order)
		slices.SortStableFunc(p.fastest, func(i, j int) int { return cmp.Compare(f.cycle(i), f.cycle(j)) })
		s.parts = append(s.parts, p)
	}
	s.costs = s.measure(func(int) float64 { return 0 })
	return s
}

// slice begins the search of the makespans in [low, up).
func (s *search) slice(low, up float64) {
	s.low, s.up = low, up
	s.whole = s.allConfigurations()
	for i := range s.kinds {
		s.costs.value[i] = s.kinds[i].Bill(low)
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

// span returns a range that contains the makespans of all configurations; 0 and 0 if there is none.
func (s *search) span() (low, up float64) {
	limits := make([]int, len(s.kinds))
	last, boot, shortest := 0.0, 0.0, math.Inf(1)
	for i := range s.kinds {
		limits[i] = s.kinds[i].Limit
		if limits[i] == 0 {
			continue
		}
		one := make([]int, len(s.kinds))
		one[i] = 1
		last = math.Max(last, s.Evaluate(one).Makespan)
		boot = math.Max(boot, s.kinds[i].boot)
		shortest = math.Min(shortest, s.cycle(i))
	}
	if last == 0 {
		return 0, 0
	}
	for p, f := range s.phases {
		low += f.phaseBegun(limits, alone, float64(p)*boot) // later phases as if all machines were ready
	}
	return math.Max(low, shortest/1000), 4 * (last + boot + s.sumOfTails(limits))
}

// cut returns the end of a slice: up, or the instant before it at which another unit of time begins to be paid.
func (s *search) cut(low, up float64) float64 {
	const beyond = 1.5e-9 // Bill counts 1e-9 units as rounding
	for i := range s.kinds {
		unit := s.kinds[i].Unit
		if next := (math.Floor(low/unit+1-beyond) + beyond) * unit; next > low && next < up && next-low > 1e-7*low && unit > 1e-2*low {
			up = next
		}
	}
	return up
}

// slices searches the makespans in [low, up), in slices that are as wide as a few steps suffice for.
func (s *search) slices(low, up float64) {
	for low < up {
		next := math.Min(up, low*(1+1.2*s.width))
		for {
			narrow := next/low-1 <= math.Max(s.aim()/4, finest)
			s.slice(low, next)
			least := s.searchSlice(s.atMost(narrow))
			if math.IsInf(least, 1) {
				break
			}
			if narrow {
				s.giveUp(low, least)
				break
			}
			next = math.Sqrt(low * next)
		}
		if next < up || next/low-1 > s.width { // what is left before up may be no width at all
			s.width = next/low - 1
		}
		low = next
	}
}

// atMost returns how many boxes are cut in a slice. An exact search cuts slices rather than boxes.
func (s *search) atMost(narrow bool) int {
	switch exact := s.epsilon == 0; {
	case exact && narrow:
		return math.MaxInt
	case exact:
		return 1
	case narrow && s.steps > 0:
		return max(leastSteps, min(mostSteps, s.steps/25))
	}
	return fewSteps
}

// giveUp raises s.within so that it holds for all configurations with at least that makespan and that cost.
func (s *search) giveUp(low, least float64) {
	for s.found.cheapest(low*(1+s.within)) > least*(1+s.within) {
		s.within *= 1.02
	}
}

// cutoffAt returns the cost from which on a configuration with at least that makespan has a known point within epsilon.
func (s *search) cutoffAt(low float64) float64 {
	aim := s.aim()
	return s.found.cheapest(low*(1+aim)) / (1 + aim) * (1 + 1e-12)
}

// aim returns the epsilon that is searched for: what has been reached once the steps are used up.
func (s *search) aim() float64 {
	if s.steps > 0 {
		return s.epsilon
	}
	return s.within
}
