// Package predict predicts how long a job takes, from the measured durations of its application's tasks and the slots
// that it gets.
//
//	var c predict.Collector
//	c.Add(job.MapTask, stats)               // for each attempt that ended Done
//	profile.AddRun(size, ended, c.Measures())
//	inv, ok := profile.Invariants(size)     // false: a part of the job was never measured
//	bounds := predict.Bounds(inv, shape).Total()
//
// A Collector gathers the Measures of a run. Package store keeps them and merges those of the latest runs into a
// Profile. A Profile gives the Invariants of a job of a given size. From those Bounds and Quantiles compute the
// completion time on a Shape, and Trials simulates runs over several allocations. The formulas are listed in
// docs/models.md.
//
// Units: seconds, bytes, bytes per second, cores, all float64 where a model divides them. The package is pure: no
// clock, file, network, logger, goroutine or global random source.
package predict
