package front

import (
	"math"
	"slices"
	"sort"
)

// Set is a list of points of which none dominates another: the fastest first, each one cheaper than those before it.
type Set []Point

// cheapest returns the least cost of a point whose makespan is at most the given one; +Inf without such a point.
func (s Set) cheapest(makespan float64) float64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].Makespan > makespan })
	if i == 0 {
		return math.Inf(1)
	}
	return s[i-1].Cost
}

// cheaper reports whether a cost is below another one by more than rounding: sums of the same prices in another order are ties.
func cheaper(cost, other float64) bool { return cost < other*(1-1e-12) }

// add inserts a point and removes the points that it dominates, unless a point of the set is as good in both.
func (s *Set) add(p Point) {
	old := *s
	if !cheaper(p.Cost, old.cheapest(p.Makespan)) {
		return
	}
	first := sort.Search(len(old), func(i int) bool { return old[i].Makespan >= p.Makespan })
	last := first
	for last < len(old) && !cheaper(old[last].Cost, p.Cost) {
		last++
	}
	*s = slices.Replace(old, first, last, p)
}

// Tipping returns the index of the point from which on more money buys little time: the point that is farthest below
// the straight line between the cheapest and the fastest, with cost and makespan scaled to the range of the front. It
// returns −1 without points.
func (s Set) Tipping() int {
	if len(s) == 0 {
		return -1
	}
	first, last := s[0], s[len(s)-1]
	best, at := math.Inf(1), 0
	for i, p := range s {
		far := share(p.Makespan, first.Makespan, last.Makespan) + share(p.Cost, last.Cost, first.Cost)
		if far < best-1e-12 {
			best, at = far, i
		}
	}
	return at
}

// share returns the position of x between low (0) and up (1).
func share(x, low, up float64) float64 {
	if up <= low {
		return 0
	}
	return (x - low) / (up - low)
}

// Within returns the index of the cheapest point within the deadline and the budget or, without a deadline, of the
// fastest point within the budget; 0 stands for no bound. It returns −1 if there is none.
func (s Set) Within(budget, deadline float64) int {
	if deadline > 0 {
		i := sort.Search(len(s), func(i int) bool { return s[i].Makespan > deadline }) - 1
		if i >= 0 && budget > 0 && s[i].Cost > budget {
			return -1
		}
		return i
	}
	for i := range s {
		if s[i].Cost <= budget {
			return i
		}
	}
	return -1
}
