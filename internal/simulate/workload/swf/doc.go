// Package swf reads logs of clusters in the Standard Workload Format, versions 1 and 2
// (Parallel Workloads Archive, "The Standard Workload Format", version 2.2), plain or compressed by
// gzip:
//
//	log, err := swf.Open("trace.swf.gz", swf.Options{})
//	jobs, err := log.Rigid(swf.Options{})
//
// A line is a job with 18 fields separated by blanks, in the order of submission. -1 is an unknown
// field. Lines that begin with a semicolon are comments; those of the form "; Key: value" describe
// the cluster.
//
//	1 job number                      10 requested memory, kB a processor
//	2 submit time, s                  11 status: 0 failed, 1 completed, 5 cancelled, …
//	3 wait time, s                    12 user
//	4 run time, s                     13 group
//	5 allocated processors            14 executable
//	6 mean CPU time, s                15 queue
//	7 used memory, kB a processor     16 partition
//	8 requested processors            17 preceding job
//	9 requested time, s               18 think time after that, s
//
// Fields may have fractions. A processor of the format is the unit that the cluster's batch system
// allocates; [Log.Rigid] counts it as a node.
//
// The package opens files, so it is not pure. It must not use a clock or goroutines.
package swf
