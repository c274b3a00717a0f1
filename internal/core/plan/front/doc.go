// Package front chooses rented machines for a bag of tasks, or for a job of several phases that follow each other. It
// finds the front: all configurations (numbers of machines of each type) that no other configuration beats in both cost
// and makespan (Dumitru et al., "A Queuing Theory Approach to Pareto Optimal Bags-of-Tasks Scheduling on Clouds",
// section 4). Search does not try all configurations: it bounds and prunes, and finds the same points as enumeration.
//
//	m := front.NewModel(bag, types)
//	set, within := m.Search(m.Epsilon())
//	i := set.Within(budget, deadline)
//
// The throughput is predicted by package predict/rented. Money is in the currency of the prices, times are seconds.
// The package is pure: it has no clock, file, network, goroutine or random source.
package front
