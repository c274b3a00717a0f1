package rented

// Sum is what a set of unequal machines comes to. All of it is additive, so sets are made of types and counts.
type Sum struct {
	Machines int     // that compute a task each at a time
	Rate     float64 // tasks/s of all without contention: Σ x_k, x_k = 1/(compute_k + transfer_k)
	Moving   float64 // machines that move data, on average and without contention: Σ x_k·transfer_k
}

// Add adds so many machines that do rate tasks/s each and need transfer seconds for a task's data, both without contention.
func (s *Sum) Add(count int, rate, transfer float64) {
	s.Machines += count
	s.Rate += float64(count) * rate
	s.Moving += float64(count) * rate * transfer
}

// Network returns a network of equal machines with the same sum: exact without contention, when the server is saturated, and
// for machines that are equal. Its transfer time is the mean over tasks, where eqs. 7 and 8 of the paper take the mean over
// machines: fast machines move more data. server is Network.Server.
func (s *Sum) Network(server float64) Network {
	transfer := s.Moving / s.Rate
	compute := float64(s.Machines)/s.Rate - transfer
	if compute < 1e-12*transfer { // what rounding leaves of 0
		compute = 0
	}
	return Network{Machines: s.Machines, Compute: compute, Transfer: transfer, Server: server}
}

// Slowed returns which fraction of the throughput without contention the machines have, 0…1.
func (s *Sum) Slowed(server float64) float64 {
	return min(1, s.Network(server).Solve().Throughput/s.Rate)
}
