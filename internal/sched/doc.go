// Package sched is the policy inside allocations: what starts next, on which node, and which nodes are
// kept away from.
//
// The engine keeps state, records and actions. It describes a pool of nodes and the candidates for them (Pool,
// Node, Running, Candidate) and carries out what a Policy decides (Decision). A candidate is a task that begins
// or an attempt that goes on to its next phases; policies treat both alike. What a candidate takes of a node
// is known by phase (Demand). Candidates of equal needs form a class (Class), and only classes and nodes for
// which something has changed are looked at.
//
// The policy of every scheduler is a Selector (selector.go), which is the same machine for all of them: it goes through
// attempts that wait and classes of tasks that could begin, never overcommits memory while anything can make room (room.go), and
// keeps a node for the first that found no room (hold.go). What differs is in the rules of the scheduler (interface rules
// in policy.go), one file each: slots.go, containers.go, packing.go, prism.go, phases.go and cores.go, which the
// others begin with. Scheduler.Policy puts them together. A further scheduler is a name (scheduler.go), a file with its rules
// and a line in Scheduler.Policy.
//
// Beside them lies what they share: demands by phase, measured or told (demand.go), shares, alignment and how far nodes are
// filled (share.go), the orders of jobs (order.go, rank.go), which tasks are ready (ready.go), how long
// they take (times.go), slow start (slowstart.go), trust in nodes (health.go), what may begin before the
// end of an allocation (deadline.go), and what a node has too little of, for those who ask (lacks.go).
//
// The package belongs to the pure core: no clock, file, network, logger, goroutine or random source, and
// nothing depends on the order of a map. A policy holds no state from which anything but decisions
// follows, so a new coordinator begins with an empty one.
package sched
