package rented

import "math"

// Range is bounds of what is known of a set of machines.
type Range struct {
	Few, Many             int     // machines
	LeastShare, MostShare float64 // of a machine's time in which it moves data, without contention
	LeastUse, MostUse     float64 // of the server's capacity, without contention; above 1: more than it has
}

// AtBest returns upper bounds of the effect of contention (see Contend) on all sets of machines in a range.
func AtBest(r Range, spread float64) Start {
	best := slowed(r.Many, r.MostShare, r.LeastUse)
	sigma := math.Sqrt(math.Log1p(spread * spread))
	together := r.LeastUse * 2 * normal(-sigma/math.Sqrt2)
	if together <= r.MostShare {
		return Start{Slowed: best, Credit: 1}
	}
	moving := r.MostShare + 1/slowed(r.Few, r.LeastShare, r.MostUse) - 1
	credit := 1 - math.Max(0, together-moving)/Credit(spread)
	return Start{Slowed: best, Credit: math.Max(0, credit)}
}

// slowed returns Start.Slowed of equal machines.
func slowed(machines int, share, use float64) float64 {
	k := float64(machines)
	n := Network{Machines: machines, Compute: math.Max(0, 1-share), Transfer: share, Server: use / k}
	return math.Min(1, n.Solve().Throughput/k)
}
