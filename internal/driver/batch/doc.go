// Package batch is the driver for batch systems: an allocation is a batch job, and each of its nodes runs one worker.
//
// It contains everything that is the same for all batch systems: the folder and the scripts of an allocation, retried
// submissions, cancellations, polls, recovery after the death of a coordinator, and wake-up jobs. What differs is the interface
// System; package berth/internal/driver/slurm implements it, by commands that Tools runs. To support another batch system, implement System in a folder
// beside that package, and add a line to package registry:
//
//	var slurmBackend driver.Backend = batch.Backend(func(env []string) batch.System { return slurm.Open(env) })
//
// Each cluster has one goroutine (loop.go). Only this goroutine calls the batch system for allocations, one call after the other
// and never with a lock held. One call polls all jobs, and the interval between polls grows while no change is expected (watch.go).
//
// A job is submitted once, and the batch system must never run it twice. The submitting command writes the job's id to the
// allocation's folder. A job whose id was lost is found by the path of its script, which no other job has. So an
// interrupted submission is never repeated while its job lives.
package batch
