// Package front chooses rented machines for a bag of tasks. It finds all configurations, types of machines and how many of
// each, that no other one beats in both cost and makespan (Dumitru et al., "A Queuing Theory Approach to Pareto Optimal
// Bags-of-Tasks Scheduling on Clouds", section 4), without trying all: Search bounds and prunes, and finds the same points
// as enumeration.
//
// The throughput is that of package predict/rented. Money is in whatever currency the prices are in; times are seconds.
package front
