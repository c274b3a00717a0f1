// Package starts predicts when a request to a batch system will begin, from the queue as it is and from how long jobs
// really run beside what they ask for (docs/models.md, "Starts by history"):
//
//	draws := starts.NewPast(&history, now).Draw(&queue, 50, seed)
//	waits := draws.Waits(nodes, limit) // one for each draw
//	waits.Median(), waits.Mean()
//
// A History has what was seen of the jobs of a queue. A Course is one simulation of the queue from now on: the batch system
// plans with limits, as it does, and jobs end when a Future says. One Future lets all jobs run to their limits, others
// draw run times and arrivals from the history. A request goes behind all jobs that wait now, so one course answers for
// all requests: it keeps when nodes would have been left for one (openings), and continues from where no present job
// waits any more for those that still do.
//
// The package counts nodes and does not tell them apart. Package cluster knows single nodes and partitions. It belongs
// to the pure core: seeds come in as values.
package starts
