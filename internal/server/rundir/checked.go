package rundir

import (
	"context"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/driver"
)

// checkRounds is the largest number of requests of one plan that the batch system checks. Each answer is one noisy
// sample, so more of them would not be more accurate.
const checkRounds = 3

// PlanChecked plans, and lets the batch system itself compute when the chosen request would begin. If the answer is much
// later than the plan, or a refusal, it plans again with that answer. If the last of these requests is refused, too, it finds out what the
// batch system accepts, and plans within that. If that is nothing, the refusal is returned. tester is nil where the backend cannot check requests.
//
// While jobs are pending in the partition only a refusal counts. Slurm then adds to the start the demand of all jobs
// of higher priority, nodes × time over the nodes of the partition (_delayed_job_start_time in its controller), as if
// none could be backfilled: in measurements every request got the same late start, which led plans to requests of
// half the size.
func PlanChecked(ctx context.Context, q plan.Question, tester driver.Tester) (plan.Plan, error) {
	p, refused, err := planRounds(ctx, q, tester)
	if refused == nil {
		return p, err
	}
	note, ok := fit(ctx, &q, tester, refused, err)
	if !ok {
		return plan.Plan{}, err
	}
	p, _, err = planRounds(ctx, q, tester)
	p.Notes = append(p.Notes, note)
	return p, err
}

// planRounds plans until the batch system accepts what is planned. Else it returns the last request that was refused.
func planRounds(ctx context.Context, q plan.Question, tester driver.Tester) (p plan.Plan, refused *job.AllocRequest, err error) {
	for round := 0; ; round++ {
		p, err = plan.Decide(q)
		last := round == checkRounds
		if err != nil || tester == nil || last && refused == nil || len(p.Requests()) == 0 {
			return p, refused, err
		}
		refused = nil
		known := len(q.Checks)
		for i, req := range checkable(&p) {
			check := plan.Check{Nodes: req.Nodes, PerNode: req.PerNode, Time: req.Time}
			if len(p.Serves) > 1 {
				check.Partition = req.Batch.Partition
			}
			check.Start, err = tester.Test(ctx, req)
			switch {
			case job.ClassOf(err) == job.User && last:
				return plan.Plan{}, &req, err
			case job.ClassOf(err) == job.User:
				check.Refused, refused = err.Error(), &req
			case err != nil:
				p.Notes = append(p.Notes, "the batch system could not check the request: "+err.Error())
				return p, nil, nil
			case i > 0 || !p.Doubt(check.Start) || pending(q.Snap, req.Batch.Partition):
				continue
			}
			q.Checks = append(q.Checks, check)
		}
		if len(q.Checks) == known || last {
			return p, nil, nil
		}
	}
}

// checkable returns the first request of a plan, and the first of those for other tasks.
func checkable(p *plan.Plan) []job.AllocRequest {
	all := p.Requests()
	var out []job.AllocRequest
	for i, r := range all {
		others := func(of []int) bool { return slices.Equal(of, p.Serves[i]) }
		if i == 0 || i < len(p.Serves) && !slices.ContainsFunc(p.Serves[:i], others) {
			out = append(out, r)
		}
	}
	return out
}

// pending reports whether jobs that can start by themselves are pending in the partition, or the plan counts on nodes that are given back before
// the batch system knows.
func pending(snap cluster.Snapshot, partition string) bool {
	return slices.ContainsFunc(snap.Queue.Running, func(j cluster.Queued) bool { return j.Free != 0 }) || slices.ContainsFunc(snap.Queue.Pending, func(j cluster.Queued) bool {
		return j.Held == "" && slices.Contains(strings.Split(j.Partition, ","), partition)
	})
}
