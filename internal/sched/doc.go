// Package sched is the policy inside allocations: which phase of which task begins
// next, on which node, and which nodes are kept away from.
//
// It holds no state of its own and changes none but what it is handed: the engine
// keeps the load of nodes and the line of jobs, and asks. Policies stand side by
// side, each in a file: the order of jobs (order.go, rank.go) and of what they claim
// (claim.go), what a phase takes of its node (phase.go), admission and the choice of a
// node (node.go), slow start (slowstart.go), trust in nodes (health.go), what may begin
// before the end of an allocation (deadline.go). A policy for phases, fairness or
// stragglers replaces one of them and leaves the engine alone.
//
// It belongs to the pure core: no clock, file, network, logger, goroutine or
// random source, and nothing depends on the order of a map.
package sched
