// Package slurm implements the batch system interface of package batch for Slurm: an allocation is a
// Slurm job, and each of its nodes runs one worker.
//
// It calls Slurm's commands (sbatch, squeue, scontrol, scancel), as users do. The commands are
// installed on every login node and keep their options. Slurm's library and its JSON output change
// with every release. The package asks for explicit formats, with separators that no field contains
// and times in seconds since the epoch; format.go is the only file that knows them. It supports
// Slurm 22.05 and later.
//
// A job's script starts one worker on each node with srun (script.go). Jobs are submitted so that Slurm
// never runs them twice.
//
//	var system batch.System = slurm.Open(os.Environ())
//	if err := system.Available(ctx); err == nil {
//		snapshot, err := system.Snapshot(ctx, "")
//	}
//
// The package keeps no state of allocations: package batch does.
package slurm
