// Package slurm is Slurm as the driver for batch systems needs it (batch.System): an allocation is a
// Slurm job, a node of it is the one worker that runs on that node.
//
// It talks to Slurm by its commands (sbatch, squeue, scontrol, scancel), as users
// do: they are there on every login node and keep their options, where the library
// and its JSON change with every release. Formats are asked for explicitly, with
// separators that stand in no field and times in seconds since the epoch; format.go is
// the one place that knows them. It works with Slurm 22.05 and what came after.
//
// A job's script starts one worker a node by srun (script.go). Slurm is asked to keep a job to itself, never to run it twice.
package slurm
