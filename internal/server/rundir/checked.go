package rundir

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/driver"
	"berth/internal/sys/statedir"
)

// checkRounds is the largest number of requests of one plan that the batch system checks. Each answer is one noisy
// sample, so more of them would not be more accurate.
const checkRounds = 3

// PlanChecked plans, and lets the batch system itself compute when the chosen request would begin. If the answer is much
// later than the plan, or a refusal, it plans again with that answer. If the last of these requests is refused, too, it finds out what the
// batch system accepts, and plans within that, now and for some hours. If that is nothing, the refusal is returned. tester is nil where the backend cannot check requests.
//
// While jobs are pending in the partition only a refusal counts. Slurm then adds to the start the demand of all jobs
// of higher priority, nodes × time over the nodes of the partition (_delayed_job_start_time in its controller), as if
// none could be backfilled: in measurements every request got the same late start, which led plans to requests of
// half the size.
func PlanChecked(ctx context.Context, h statedir.Home, q plan.Question, tester driver.Tester) (plan.Plan, error) {
	known := readRefusals(h, q.Now)
	n := len(known)
	p, err := known.plan(ctx, h, q, tester)
	if err != nil && q.Remaining == nil && len(known) < n { // what was refused earlier led nowhere, but may be accepted by now
		return known.plan(ctx, h, q, tester)
	}
	return p, err
}

// plan plans within what is known of refusals.
func (all refusals) plan(ctx context.Context, h statedir.Home, q plan.Question, tester driver.Tester) (plan.Plan, error) {
	used, notes := all.heed(ctx, h, &q, tester)
	p, refused, err := planRounds(ctx, q, tester)
	switch {
	case refused != nil:
		if !fit(ctx, &q, tester, refused) {
			if rest, ok := without(q, refused); ok {
				return all.plan(ctx, h, rest, tester)
			}
			return plan.Plan{}, err
		}
		refused.lower(&q)
		all[termsOf(refused.Refused.Batch)] = *refused
		all.save(h)
		notes = append(notes, refused.words())
		p, _, err = planRounds(ctx, q, tester)
	case job.ClassOf(err) == job.User && len(used) > 0:
		err = all.none(h, used, notes, err)
	}
	p.Notes = append(p.Notes, notes...)
	return p, err
}

// without returns the question without the partition of a refused request, which accepts nothing; false where the user did not ask for any, or no
// other one is left. The terms of a job that has begun keep it: other allocations would not serve the job.
func without(q plan.Question, x *refusal) (plan.Question, bool) {
	spec := *q.Spec
	q.LeftOut = append(slices.Clip(q.LeftOut), cluster.LeftOut{Partition: x.Refused.Batch.Partition, Why: "it refuses every request: " + x.Why})
	left := slices.DeleteFunc(strings.Split(spec.Request.Partition, ","), q.LeavesOut)
	if !spec.Request.Anywhere || len(left) == 0 {
		return q, false
	}
	if q.Remaining == nil {
		spec.Request.Partition = strings.Join(left, ",")
	}
	q.Spec, q.Checks = &spec, nil
	return q, true
}

// planRounds plans until the batch system accepts what is planned. Else it returns the first request that was refused in the partition of the last one.
func planRounds(ctx context.Context, q plan.Question, tester driver.Tester) (p plan.Plan, refused *refusal, err error) {
	var notes []string
	for round, again := 0, false; ; round++ {
		p, err = plan.Decide(q)
		last := round == checkRounds
		if err != nil && again {
			return p, refused, err
		}
		if err != nil || tester == nil || last && !again || len(p.Requests()) == 0 {
			return p, nil, err
		}
		again = false
		known := len(q.Checks)
		for i, req := range checkable(&p) {
			check := plan.Check{Nodes: req.Nodes, PerNode: req.PerNode, Time: req.Time}
			if len(p.Serves) > 1 || strings.Contains(req.Batch.Partitions(), ",") {
				check.Partition = req.Batch.Partition
			}
			check.Start, err = tester.Test(ctx, req)
			switch {
			case job.ClassOf(err) == job.User && reserved(&q, &req):
				p.Notes = append(p.Notes, "the batch system cannot say when the request would start, as nodes are reserved: "+err.Error())
				return p, nil, nil
			case job.ClassOf(err) == job.User:
				if refused == nil || refused.Refused.Batch.Partition != req.Batch.Partition {
					refused = &refusal{Refused: req, Why: err.Error(), At: q.Now}
				}
				check.ForTime = driver.OfTime(err.Error())
				if again, check.Refused = true, err.Error(); last {
					return plan.Plan{}, refused, err
				}
				notes = append(notes, fmt.Sprintf("%s refuses %s in %s: %v", req.On, sizeOf(&req), req.Batch.Partition, err))
			case err != nil:
				p.Notes = append(p.Notes, "the batch system could not check the request: "+err.Error())
				return p, nil, nil
			case i > 0 || !p.Doubt(check.Start) || pending(q.Snap, req.Batch.Partition):
				continue
			}
			q.Checks = append(q.Checks, check)
		}
		if len(q.Checks) == known || last {
			p.Notes = append(p.Notes, notes...)
			return p, nil, nil
		}
	}
}

// checkable returns the first request of a plan, and the first of those for other tasks and in other partitions.
func checkable(p *plan.Plan) []job.AllocRequest {
	all := p.Requests()
	var out []job.AllocRequest
	for i, r := range all {
		others := func(of []int) bool { return slices.Equal(of, p.Serves[i]) }
		there := func(o job.AllocRequest) bool { return o.Batch.Partition == r.Batch.Partition }
		if !slices.ContainsFunc(all[:i], there) || i < len(p.Serves) && !slices.ContainsFunc(p.Serves[:i], others) {
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

// reserved reports whether a request needs nodes that are reserved for others now. Slurm says then that there are no such nodes, but lets the
// request wait for them when it is submitted.
func reserved(q *plan.Question, req *job.AllocRequest) bool {
	queue, closed, all := q.Snap.Queue, map[int]bool{}, 0
	for _, r := range queue.Reservations {
		if r.Start > q.Now || r.End > 0 && r.End <= q.Now || slices.Contains(req.Batch.Args, queue.Words.Reservation+r.Name) {
			continue
		}
		for _, n := range r.Nodes {
			closed[n] = true
		}
	}
	for _, p := range queue.Partitions {
		if p.Name == req.Batch.Partition {
			all = len(p.Nodes)
			maps.DeleteFunc(closed, func(n int, _ bool) bool { return !slices.Contains(p.Nodes, n) })
		}
	}
	return len(closed) > 0 && all-len(closed) < req.Nodes
}
