// Package process runs the processes of tasks on this node: it starts them, measures and
// watches them, moves what streaming programs read and write through pipes, keeps what they say
// on standard error, and ends them. It also has what a task needs on the node beside its
// process: output files, a folder of its own, cores.
//
//   - lane.go: threads that start processes and wait for them. One that has started a process
//     never ends, for the process dies with it (Pdeathsig);
//   - process.go: one process and its group, from its start to its end;
//   - set.go: the programs of one attempt, which are killed, watched and accounted together;
//   - stream.go, pipe.go, stderr.go: programs that are fed and listened to (Hadoop Streaming);
//   - output.go, durable.go: the files that a bag task writes, committed and brought to disk;
//   - failure.go, doubt.go, starved.go: why a task did not succeed, and whether it is to blame for that;
//   - cookie.go: what a task's environment has in addition, and how processes that outlived their
//     worker are found again.
//
// The package knows one node and one attempt. It does not talk to the coordinator, knows
// nothing of phases and commits, and reads no input of a job: callers hand it readers and writers.
// A task may take no more than a millisecond, so the path of a short one has no pipe, no timer
// and no goroutine that is made for it.
package process
