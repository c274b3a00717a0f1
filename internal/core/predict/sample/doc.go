// Package sample decides which tasks of a bag without a profile are tried on which types of machines, and estimates
// from their times the mean time of all tasks on all types (BaTS: Oprescu, Kielmann, "Bag-of-Tasks Scheduling under
// Budget Constraints", CloudCom 2010; Oprescu, Kielmann, Leahu, "Budget Estimation and Control for Bag-of-Tasks
// Scheduling in Clouds", Parallel Processing Letters 21, 2011).
//
//	lists := sample.Deal(rng, tasks, types, true) // run them, then
//	estimates := sample.Estimates(types, runs)
//
// Some tasks are tried on every type: they show how much faster one type is than another. All others are tried once,
// on one type, and their times are converted to the other types by linear regression. So every type has a mean over
// some thirty tasks, and few tasks run twice. The package is pure: its only random source is the one that the caller
// gives.
package sample
