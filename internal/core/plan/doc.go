// Package plan decides how a job runs on a cluster: the number of nodes, each worker's cores and memory, the number
// of reduces and the wall time to request. It also predicts the run time and states the grounds of the prediction and
// the reasons of the decision.
//
//	layout, err := plan.Share(snapshot, spec) // how large splits may be
//	p, err := plan.Decide(plan.Question{Now: now, Snap: snapshot, Spec: spec, Counts: counts, Profile: profile})
//	for _, request := range p.Requests() { … }
//
// A decision is a function of a snapshot of the nodes, the job, the size of its input and the profile of its
// application. It has two steps, because the split of the input depends on the nodes and everything else depends on
// the split: Share, then Decide. `berth plan` shows the Plan, the run's folder keeps it, and the request for an
// allocation is made from it.
//
// On a batch system (decideBatch) the job is adapted to the queue, as in the paper "mr-job-adaptor". An offer
// (offer.go) is one size of worker in one partition: the bounds on an allocation, a timeline of free nodes, a price.
// Each free slot of an offer gives a Candidate (candidate.go), which is sized and then evaluated (evaluate.go): its
// turnaround is the mean of simulated runs over the windows that the job would have (predict.Trials). The best
// candidate is chosen, with as few nodes and as little wall time as suffice (choose.go). Further allocations are
// added as long as they shorten the turnaround (more.go), and nodes that will become free one by one are requested
// apart (apart.go). A job without a profile sends a scout (blind.go). The rest of a job that has begun is planned in
// the same way; its allocations count as windows that exist already (Rest).
// The tasks of a job are a mix of kinds with equal needs (taskMix), mostly of one. A bag whose tasks need different
// resources is divided into parts that different nodes hold (part.go). Each
// part is planned in this way, in a queue that has the requests of the parts before it (parts.go, join.go).
//
// When the batch system itself predicts a later start or refuses a request (Check), the plan is made again with that
// answer.
//
// The package is pure: no clock, file, network, logger, goroutine or global random source.
package plan
