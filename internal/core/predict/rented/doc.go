// Package rented predicts the throughput of machines that compute the tasks of a bag and share one data server
// (Dumitru et al., "A Queuing Theory Approach to Pareto Optimal Bags-of-Tasks Scheduling on Clouds"), and how long
// the last tasks of a bag take once no further task waits.
//
//	load := rented.Network{Machines: 8, Compute: 60, Transfer: 5, Server: 1}.Solve()
//
// The machines are a closed queueing network: a machine computes (a delay station) or moves data to or from the
// server (a processor-sharing station whose rate grows with the number of machines that use it, up to the server's
// capacity). Both stations are insensitive to the distributions of their service times, so the throughput depends on
// means only. The package is pure: it has no clock, file, network, goroutine or random source.
package rented
