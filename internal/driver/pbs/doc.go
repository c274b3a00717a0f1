// Package pbs implements the batch system interface of package batch for PBS (OpenPBS and PBS Pro, version 14 or later): an
// allocation is a PBS job, and each of its nodes runs one worker.
//
// It calls PBS's commands (qsub, qstat, qselect, qalter, qdel, pbsnodes, pbs_rstat), as users do, and asks for the format dsv, with
// a separator that no value contains (format.go). The format json, which came with the same version, prints texts that look like
// numbers as numbers, so that account 0012 becomes 12. Times are asked for in UTC.
//
// PBS predicts no start of a job that is not submitted. So Test finds out only whether a request can ever run, and the timeline of
// package cluster predicts the start.
//
// A job's script starts one worker on each node with pbsdsh (script.go). Jobs are submitted so that PBS never runs them twice.
//
//	var system batch.System = pbs.Open(os.Environ())
//	if err := system.Available(ctx); err == nil {
//		snapshot, err := system.Snapshot(ctx, "")
//	}
//
// TORQUE has commands of the same names, but neither select nor these formats; Available says so. The package keeps no state of
// allocations: package batch does.
package pbs
