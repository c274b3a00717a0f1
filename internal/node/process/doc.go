// Package process runs the processes of tasks on this node. It starts them, limits and measures
// what they use, moves the data of streaming programs through pipes, keeps their standard error,
// and ends them. It also provides the cores of a task; package files has its files.
//
//	set := &process.Set{...}
//	lanes.Run(mask, func(l *process.Lane) { l.Bind(cores); exit, err = set.Run(command, files) })
//	if f := process.ExitFailure(exit); f != nil { return f.Believe(ctx, batch) }
//
// Its files are:
//   - lane.go: threads that start processes and wait for them. A thread that has started a process
//     never ends, because the process would be killed with it (Pdeathsig).
//   - process.go: one process and its group, from start to end.
//   - set.go: the programs of one attempt, which are killed, watched and measured together.
//   - stream.go, pipe.go, stderr.go: programs that read and write records (Hadoop Streaming).
//   - failure.go, doubt.go, starved.go: why an attempt failed, and whether the task is to blame.
//   - cookie.go: the environment of a task, and how processes that outlived their worker are found.
//
// The package knows one node and one attempt. It does not talk to the coordinator, knows nothing of
// phases and of permission to commit, and does not open a job's input: callers pass readers and
// writers. Running a short task may cost no more than a millisecond, so its path creates no pipe,
// no timer and no goroutine.
package process
