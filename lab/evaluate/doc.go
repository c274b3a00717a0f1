// Package evaluate measures how good the adaptor is. It runs the experiments of the paper
// "mr-job-adaptor" (section 4) and further ones on the simulator, and replicates them until the
// means are precise enough:
//
//	report, err := settings.Table2(ctx, mix, maxTimes)
//	report.Text(os.Stdout)
//
// A study is one workload under several adaptors. In a replication all adaptors get the same jobs
// (common random numbers). So the difference between two adaptors has a half-width of its own, which
// is smaller than those of the means. Replications run in parallel, but their number is decided on
// their results in order. So a report is a function of its Settings and independent of the number of
// cores and of timing.
//
// A Report contains the figures as cells. Text prints them for people and CSV for programs, and
// package draw draws them. The package must not read or write files.
package evaluate
