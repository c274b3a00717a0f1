// Package worker is the process that runs on each node of an allocation: it runs
// the attempts that the coordinator gives it, measures them, and serves map
// outputs to the reducers of other nodes.
//
// A worker decides nothing about jobs. It starts what it is told to start, waits
// for a grant between phases, commits when it may, and reports. It outlives the
// coordinator: while nobody answers it keeps working, keeps the ends of attempts
// that were not acknowledged, and dials again and again (Config.MaxOrphan). It starts
// no process of a task itself and moves none of their bytes: package process does that.
//
// Who runs where:
//
//   - session.go: the goroutine of Run dials, greets, and takes messages;
//   - link.go: what must reach the coordinator, over any number of connections;
//   - monitor.go: one goroutine that looks at all running attempts a few times a
//     second: time limits, memory limits, phases to be told, progress;
//   - bag.go, mapreduce.go: attempts, each in a lane (process.Lanes) or a goroutine of its own.
package worker
