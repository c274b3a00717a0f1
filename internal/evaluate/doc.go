// Package evaluate measures what the adaptor is worth: the experiments of the paper
// "mr-job-adaptor" (section 4) and what goes beyond them, run on the simulator and
// replicated until the means are known well enough.
//
// A Study is one workload under several ways to bring MapReduce jobs to the cluster. In a
// replication all of them get the very same jobs (common random numbers), so what they
// differ by is told with its own half-width, which is smaller than those of the means.
// Studies are replicated in parallel; the number of replications is decided on their
// results in the order of their numbers, so a report is a function of its Settings and
// neither of the number of cores nor of timing.
//
// A Report holds the figures as rows; Text lays it out for people, CSV for programs, and
// package draw draws it. The package writes no file and reads none.
package evaluate
