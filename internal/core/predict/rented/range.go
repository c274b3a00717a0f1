package rented

import "math"

// Range is bounds of what is known of a set of machines.
type Range struct {
	Few, Many             int     // machines
	LeastShare, MostShare float64 // of a machine's time in which it moves data, without contention
	MostStreams           float64 // transfers at once that use the server's whole capacity, mean over tasks
	LeastUse, MostUse     float64 // of the server's capacity, without contention; above 1: more than it has
}

// AtBest returns upper bounds of the effect of contention (see Contend) on all sets of machines in a range, and of the part of
// the server's capacity that they use with contention.
func AtBest(r Range, spread float64) (start Start, served float64) {
	best := r.slowed(r.LeastUse)
	served = min(1, r.slowed(r.MostUse)*r.MostUse)
	sigma := math.Sqrt(math.Log1p(spread * spread))
	together := r.LeastUse * 2 * normal(-sigma/math.Sqrt2)
	if together <= r.MostShare {
		return Start{Slowed: best, Credit: 1}, served
	}
	moving := r.MostShare + 1/slowed(r.Few, r.LeastShare, r.MostUse) - 1
	credit := 1 - max(0, together-moving)/Credit(spread)
	return Start{Slowed: best, Credit: max(0, credit)}, served
}

// slowed returns an upper bound of Start.Slowed of all sets of machines in the range that use the server that much or more.
//
// If K machines use it more, with the same transfer or with the same share of moving, π(j)/π(j−1) = (K−j+1)·max(transfer/j, server)/compute
// grows for all j. More of them are at the server then, also of the K−1 others that a machine finds there: what it waits grows compared
// with its time without contention, so that Slowed falls, and the use with contention grows. Of two sets with the same use and transfer the
// larger one has the smaller share, so the bound is the highest of those of a few ranges of the number of machines.
func (r *Range) slowed(use float64) (best float64) {
	width := 0.1
	for many := r.Many; many >= r.Few && best < 1; width *= 2 {
		few := max(r.Few, int(float64(many)/(1+width)))
		best = max(best, slowed(many, min(r.MostShare, r.MostStreams*use/float64(few)), use))
		many = few - 1
	}
	return best
}

// slowed returns Start.Slowed of equal machines.
func slowed(machines int, share, use float64) float64 {
	k := float64(machines)
	n := Network{Machines: machines, Compute: max(0, 1-share), Transfer: share, Server: use / k}
	return min(1, n.Solve().Throughput/k)
}
