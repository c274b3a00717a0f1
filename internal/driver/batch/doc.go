// Package batch is the driver for batch systems: an allocation is a batch job, and each of its nodes runs one worker.
//
// It holds all that does not depend on which batch system it is: the folder and the scripts of an allocation, submissions that
// are tried again, cancellations, looks at the jobs, what becomes of all that when a coordinator dies, and wake-up jobs. What it
// needs of a batch system is the interface System; berth/internal/driver/slurm implements it. Another batch system is a folder
// beside that one, an implementation of System, and a line in package registry.
//
// There is one goroutine for each cluster (loop.go), and it alone calls the batch system for allocations, one call after the other
// and never with a lock held. All jobs are looked at by one call, as seldom as what is expected allows (watch.go).
//
// A job is submitted once, and the batch system must never run it twice. The id of a job is written to the allocation's
// folder by the command that submits it, and a job whose id got lost is found by the path of its script, which no other job has;
// so a submission that was cut off is never repeated while its job lives.
package batch
