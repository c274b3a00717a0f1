package rented

import "math"

// Sum describes a set of unequal machines. All fields are additive, so a set can be built from types and counts.
type Sum struct {
	Machines int     // each with one task at a time
	Rate     float64 // tasks/s of all without contention: Σ x_k, x_k = 1/(compute_k + transfer_k)
	Moving   float64 // machines that move data, on average and without contention: Σ x_k·transfer_k
}

// Add adds count machines that do rate tasks/s each and move a task's data in transfer seconds, both without
// contention.
func (s *Sum) Add(count int, rate, transfer float64) {
	s.Machines += count
	s.Rate += float64(count) * rate
	s.Moving += float64(count) * rate * transfer
}

// Network returns a network of equal machines with the same sum: exact without contention, when the server is
// saturated, and for equal machines. Its transfer time is the mean over tasks, where eqs. 7 and 8 of the paper use
// the mean over machines: fast machines move more data. server is Network.Server.
func (s *Sum) Network(server float64) Network {
	transfer := s.Moving / s.Rate
	compute := float64(s.Machines)/s.Rate - transfer
	if compute < 1e-12*transfer { // a rounding error of 0
		compute = 0
	}
	return Network{Machines: s.Machines, Compute: compute, Transfer: transfer, Server: server}
}

// Start is the effect of contention at the data server on a bag's first tasks and on its throughput.
type Start struct {
	Slowed float64 // fraction of the throughput without contention, 0…1
	Credit float64 // remaining fraction of Credit, at most 1; below 0 where the start costs more than the credit
}

// Contend returns the effect of contention on a bag that all machines begin at once. They move data together then:
// under processor sharing a task's data take Σ min(size, others' sizes) on average, of log-normal sizes
// 2·Φ(−σ_log/√2) of all. The time by which this exceeds the time in equilibrium is lost. A saturated server works
// from the start to the end of the bag, whatever machines have begun.
func (s *Sum) Contend(server, spread float64) Start {
	n := s.Network(server)
	load := n.Solve()
	sigma := math.Sqrt(math.Log1p(spread * spread))
	together := float64(s.Machines) * server * 2 * normal(-sigma/math.Sqrt2)
	late := max(0, together-max(load.Transfer, n.Transfer))
	cycle := float64(s.Machines) / s.Rate
	return Start{Slowed: min(1, load.Throughput/s.Rate), Credit: (1 - load.Saturated) * (1 - late/(Credit(spread)*cycle))}
}
