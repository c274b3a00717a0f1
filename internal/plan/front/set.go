package front

import (
	"math"
	"sort"
)

// Set is points of which none beats another: the fastest first, each one cheaper than those before it.
type Set []Point

// cheapest returns the least cost of a point that takes no longer than that; +Inf without one.
func (s Set) cheapest(makespan float64) float64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].Makespan > makespan })
	if i == 0 {
		return math.Inf(1)
	}
	return s[i-1].Cost
}

// add takes a point in and those out that it beats, unless a point there is as good in both.
func (s *Set) add(p Point) {
	old := *s
	if old.cheapest(p.Makespan) <= p.Cost {
		return
	}
	first := sort.Search(len(old), func(i int) bool { return old[i].Makespan >= p.Makespan })
	last := first
	for last < len(old) && old[last].Cost >= p.Cost {
		last++
	}
	if last > first {
		old[first] = p
		*s = append(old[:first+1], old[last:]...)
		return
	}
	old = append(old, Point{})
	copy(old[first+1:], old[first:])
	old[first] = p
	*s = old
}

// Tipping returns the index of the point from which on more money buys little time: the one that is farthest below the
// straight line between the cheapest and the fastest, both measured in parts of the range of the front. −1 without points.
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

// share returns where x lies from low (0) to up (1).
func share(x, low, up float64) float64 {
	if up <= low {
		return 0
	}
	return (x - low) / (up - low)
}

// Within returns the index of the fastest point that costs no more than the budget and, of those in the deadline, the
// cheapest where a deadline is given; 0 stands for no bound. −1: there is none.
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
