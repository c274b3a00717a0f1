// Package gridengine implements the batch system interface of package batch for Grid Engine: Son of Grid Engine, Open Grid
// Scheduler, and Univa's and Altair's. An allocation is a job of Grid Engine, and each of its nodes runs one worker.
//
// It calls Grid Engine's commands (qsub, qstat, qhost, qconf, qalter, qdel, qacct), as users do, and reads their XML where they
// have one. xml.go and conf.go are the only files that know the formats.
//
// Grid Engine knows slots, not nodes: a parallel environment of the site decides how many slots of each host a job gets. The
// package chooses one whose allocation rule gives as many as a request names on each node (request.go). A job's script starts one
// worker on each node: the first directly, the others with qrsh -inherit (script.go).
//
// Grid Engine predicts no starts. It reserves nodes for a pending job only if the job was submitted with -R y, as those of this
// package are; queue.go puts the pending jobs in the order in which they get nodes.
//
//	var system batch.System = gridengine.Open(os.Environ())
//	if err := system.Available(ctx); err == nil {
//		snapshot, err := system.Snapshot(ctx, "")
//	}
//
// The package keeps no state of allocations: package batch does.
package gridengine
