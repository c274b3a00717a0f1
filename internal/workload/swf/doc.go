// Package swf reads and writes logs of clusters in the Standard Workload Format, versions
// 1 and 2 (Parallel Workloads Archive, "The Standard Workload Format", version 2.2), plain
// or compressed by gzip.
//
// A line is a job of 18 fields with blanks between them, in the order of submission; -1 is
// a field that is not known. Lines that begin with a semicolon are comments; those of the
// form "; Key: value" tell of the cluster.
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
// Fields may have fractions. What the format calls processors is what the cluster's batch
// system allocates; [Log.Rigid] takes one for a node.
//
// The package reads files and gzip, so it is not pure; it has no clock and no goroutine.
package swf
