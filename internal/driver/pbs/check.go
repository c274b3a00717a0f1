package pbs

import (
	"context"
	"fmt"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// Test returns an error if the request can never run, which PBS finds out only after the submission, and not at all if there is a limit
// on what a user's jobs have together. It returns no start, as PBS predicts none.
func (s *System) Test(ctx context.Context, req job.AllocRequest) (job.Time, error) {
	if _, err := shapeArgs(req); err != nil {
		return 0, err
	}
	a, snap, err := s.look(ctx, "")
	if err != nil {
		return 0, err
	}
	if what := a.outside(req, s.me(ctx)); what != "" {
		return 0, job.ConfigError(Name, what, "look at the limits: "+queueWords.Limits)
	}
	return 0, neverRuns(&snap, req)
}

// neverRuns returns an error if too few nodes could ever hold a share of the request, those that are down included.
func neverRuns(snap *cluster.Snapshot, req job.AllocRequest) error {
	for i := range snap.Nodes {
		snap.Nodes[i].Down = ""
	}
	view := cluster.View{Partition: req.Batch.Partition, PerNode: req.PerNode, Constraint: req.Batch.Constraint, Reservation: reservation(req.Batch.Args)}
	nodes, _ := snap.Usable(view)
	if len(nodes) >= req.Nodes {
		return nil
	}
	return job.ConfigError(Name, fmt.Sprintf("the job could never run: %s with %s of memory and %s each are needed, and there are only %s with so much", job.Count(req.Nodes, "node"),
		job.FormatSize(req.PerNode.Mem), job.Count(req.PerNode.CPUs, "core"), job.Count(len(nodes), "node")), "request less, or use another queue")
}

// outside returns which limit of the queue or the server on one job, or on all jobs of the user, the request does not keep, or "".
func (a *answers) outside(req job.AllocRequest, of account) string {
	server, queue := a.server[0], record{}
	for _, q := range a.queues {
		if q.name() == req.Batch.Partition {
			queue = q
		}
	}
	queue = limited(queue, server)
	nodes, each := int64(req.Nodes), req.PerNode
	for _, x := range []struct {
		what string
		n    int64
	}{{"ncpus", nodes * int64(max(each.CPUs, 1))}, {"ngpus", nodes * int64(each.GPUs)}, {"nodect", nodes}, {"mem", nodes * each.Mem}} {
		if most := queue["resources_max."+x.what]; most != "" && x.n > parseSize(most) {
			return fmt.Sprintf("a job may have %s=%s at most", x.what, most)
		}
		if most := together(x.what, of, queue, server); most != "" && x.n > parseSize(most) {
			return fmt.Sprintf("your jobs may have %s=%s at most together", x.what, most)
		}
		if least := queue["resources_min."+x.what]; x.n > 0 && x.n < parseSize(least) {
			return fmt.Sprintf("a job must have %s=%s at least", x.what, least)
		}
	}
	if most := maxTime(queue); most > 0 && batch.Rounded(req.Time, grain) > most {
		return "a wall time may be " + job.FormatDuration(most) + " at most"
	}
	if least := minTime(queue); req.Time > 0 && batch.Rounded(req.Time, grain) < least {
		return "a wall time must be " + job.FormatDuration(least) + " at least"
	}
	return ""
}
