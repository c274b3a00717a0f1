// Package sched decides inside allocations: what starts next, on which node, and which nodes to
// avoid.
//
// The engine keeps state, records and actions. It describes a pool of nodes and the candidates for them (Pool,
// Node, Running, Candidate), and carries out each Decision until there is nothing left to start:
//
//	for d := range p.Decisions(now) {
//		carryOut(d)
//	}
//
// A candidate is a task that starts or an attempt that waits for a grant; both are treated alike. The demand of
// a candidate is known by phase (Demand). Candidates of equal needs form a group (Group), and a decision examines
// only groups and nodes that have changed.
//
// A task of several ranks, a gang, starts on several nodes at once (gang.go).
//
// Pool.Decisions (decisions.go) is common to all schedulers. It goes through attempts that wait for a grant and groups of
// tasks that could start, never overcommits memory while anything can free some (room.go), and reserves a node for the
// first candidate that found no room (hold.go). The rules of a scheduler (interface Rules in rules.go) are one file each:
// prism.go, phases.go and cores.go, which the others embed; those of other systems are in the laboratory. Scheduler.Pool
// makes a pool with its rules. A new scheduler is a name (scheduler.go), a file with its rules and a line in Schedulers.
//
// They share demands by phase (demand.go), shares, alignment and the filling of nodes (share.go), the orders of jobs
// (order.go, rank.go), the queues of ready tasks (ready.go), task times (times.go), slow start (slowstart.go),
// suspected and slow nodes (health.go), deadlines of allocations (deadline.go), and the shortages of a node for berth
// explain (lacks.go).
//
// The package belongs to the pure core: it uses no clock, file, network, logger, goroutine or random source, and no result
// depends on the order of a map. What a pool remembers affects only later decisions, so a new coordinator
// starts with an empty one.
package sched
