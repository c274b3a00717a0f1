// Package sched is the policy inside allocations: what starts next, on which node, and which nodes are
// kept away from.
//
// The engine keeps state, records and actions. It describes a pool of nodes and the candidates for them (Pool,
// Node, Running, Candidate) and carries out what a Policy decides (Decision). A candidate is a task that begins
// or an attempt that goes on to its next phases; policies treat both alike. What a candidate takes of a node
// is known by phase (Demand). Candidates of equal needs form a class (Class), and only classes and nodes for
// which something has changed are looked at.
//
// InOrder (inorder.go, hold.go, room.go) is the policy there is, with jobs in one of two orders
// (order.go, rank.go). Another policy is another type that implements Policy, chosen in Order.Policy. Beside it lies what
// policies and the engine share: which tasks are ready (ready.go) and how long they take (times.go), slow start
// (slowstart.go), trust in nodes (health.go), and what may begin before the end of an allocation (deadline.go).
//
// The package belongs to the pure core: no clock, file, network, logger, goroutine or random source, and
// nothing depends on the order of a map. A policy holds no state from which anything but decisions
// follows, so a new coordinator begins with an empty one.
package sched
