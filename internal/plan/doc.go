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
// On a batch system (decideBatch) the job is adapted to the queue, as in paper
// "mr-job-adaptor". What can be asked for is offers (offer.go): a shape of node, bounds on one
// allocation, a timeline of free nodes, a price. For each size of workers that a partition could
// hold there is one, without a price. Each free slot of an offer is a Candidate (candidate.go),
// which is sized, then weighed (weigh.go): its turnaround is the mean of simulated runs over the
// windows that the job would have (predict.Trials). Of the candidates the best is chosen, with as
// few nodes and as little time as do (choose.go), and further ones beside it as long as they help
// (more.go). Jobs of which nothing is known send a scout (blind.go). What is left of a job that
// has begun is decided in the same way, with the allocations that it has as windows already
// (Rest); so is the next best, where the batch system itself sees a request otherwise (Check).
//
// The package is pure: no clock, file, network, logger, goroutine or global random
// source.
package plan
