// Package worker is the process that runs on each node of an allocation. It runs the attempts that
// the coordinator starts, measures them, and serves map outputs to the reducers of other nodes.
//
// A worker makes no decision about jobs. It starts the attempts that it is asked to start, waits
// for a grant between phases, commits with permission, and reports. It outlives the coordinator:
// while no coordinator answers it continues its attempts, keeps the ends that were not
// acknowledged, and connects again (Config.MaxOrphan). It does not start processes of tasks or move
// their data itself; package process does.
//
// Who runs where:
//
//   - session.go: the goroutine of Run dials, greets, and takes messages;
//   - link.go: what must reach the coordinator, over any number of connections;
//   - monitor.go: one goroutine that looks at all running attempts a few times a
//     second: time limits, memory limits, phases to be told, progress;
//   - bag.go, mapreduce.go: attempts, each in a lane (process.Lanes) or a goroutine of its own.
package worker
