// Package plan decides where a job runs and with what: how many nodes, which share
// of cores and memory each has, how many reduces, how much time to ask for. It
// also says how long that is predicted to take, on what grounds, and why it was
// decided so.
//
// A decision is a function of a snapshot of the nodes, the job, the size of its
// input and the profile of its application. It is taken in two steps, as the split
// of the input depends on the nodes and the rest depends on the split: Share, then
// Decide. The same Plan is shown by `berth plan`, kept beside the run and turned
// into the request for an allocation.
//
// The package is pure: no clock, file, network, logger, goroutine or global random
// source.
package plan
