// Package reporttest writes the history of a job as text, one record a line, so
// that tests of reports and of their rendering can be read:
//
//	0s   submit bag tasks=3 attempts=2
//	1s   node a1/0 host=n1 cpus=2
//	1s   start 0#1 a1/0
//	1.5s phase 0#1 compute
//	4s   progress 0#1 compute in=1M fraction=0.5
//	5s   progress 0#1 compute source=input n=1000000 whole=0.7
//	6s   done 0#1 compute.in=2M compute.cpu=3s source=input n=1400000
//	7s   failed 1#1 exit=3 stderr="no such file\n"
//
// A batch system's allocations: the job's own, or those of the job that for= names.
//
//	0s   alloc a1 partition=batch nodes=6 cpus=4 time=1h start=5m
//	1s   note a1 note="Slurm: Resources" start=7m
//	7m   alloc-began a1 ends=67m
//	9m   planned decision="2 nodes more" scout=0
//	67m  alloc-ended a1 reason="time limit"
//
// Attempts are TASK#N. Phase statistics of an attempt that is done follow from when
// its phases began; PHASE.in, .out, .rin, .rout, .cpu and .mem fill them in.
package reporttest
