// Package predict says how long a job takes: from what its application's tasks
// took before, on how many slots, within which bounds.
//
// What was measured is gathered by a Collector into Measures, kept by store, and
// merged over the latest runs into a Profile. A Profile yields Invariants for a
// job of a given size, and Bounds and Quantiles turn those and a Shape into a
// completion time. The formulas are listed in docs/models.md.
//
// Units: seconds, bytes, bytes per second, cores, all float64 where a model
// divides them. The package is pure: no clock, file, network, logger, goroutine
// or global random source.
package predict
