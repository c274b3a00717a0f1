// Package slurm is the driver for clusters that Slurm manages: an allocation is a
// Slurm job, a node of it is the one worker that runs on that node.
//
// It talks to Slurm by its commands (sbatch, squeue, scontrol, scancel), as users
// do: they are there on every login node and keep their options, where the library
// and its JSON change with every release. Formats are asked for explicitly, with
// separators that stand in no field and times in seconds since the epoch; format.go is
// the one place that knows them. It works with Slurm 22.05 and what came after.
//
// A job's script starts one worker a node by srun, in a loop that starts it again when
// it dies (script.go). One goroutine submits, watches and cancels all jobs (loop.go): one
// squeue for all of them, as seldom as what is expected allows.
//
// Slurm is asked to keep a job to itself, never to run it twice. The id of a job is written
// down by sbatch itself, and a job whose id got lost is found by the path of its script,
// which is its own; so a submission that was cut off is never repeated while its job lives.
package slurm
