// Package trials runs tasks of a bag without a profile on a host of each type of machines. It creates the job for
// each host (Deal, Trial.Job), and after these jobs have ended it reads their runs (Measure), from which package
// predict/sample estimates the time of a task on each type. It starts no jobs itself: the command `berth rent` does.
package trials
