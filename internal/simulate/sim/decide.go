package sim

import (
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
	"berth/internal/simulate/batch"
)

// decide plans a job, or the remaining part of it, from the present state of the queue.
func (c *coordinator) decide(a *app, rest *job.Remaining) (plan.Plan, error) {
	switch c.w.cfg.Adaptor.Way {
	case Rented:
		return c.site.(*cloud).plan(a)
	case Naive, Paper:
		p := c.w.baseline(a, rest)
		if change := c.w.cfg.Adaptor.Change; change != nil {
			change(a.Elastic, &p)
		}
		return p, nil
	}
	snap := c.site.snapshot()
	q := plan.Question{Now: c.w.now, Snap: snap, Spec: a.spec, Profile: a.profile, Remaining: rest, Brief: true} // nobody reads more
	if c.w.cfg.Adaptor.History {
		q.Past = starts.NewPast(&c.w.history, c.w.now)
	}
	if rest != nil {
		expectStarts(rest.Live, &snap)
		return plan.Decide(a.byNeeds(q.Again(a.first, a.measured.Measures())))
	}
	var err error
	if q.LeftOut, err = plan.Anywhere(snap.Queue, a.spec); err != nil {
		return plan.Plan{}, err
	}
	if r := &a.spec.Request; c.w.cfg.Adaptor.Among == AmongSoonest {
		r.Partition = c.w.soonest(strings.Split(r.Partition, ","), r.MinNodes, r.MaxTime)
	}
	q.Counts, q.Memo = plan.Counts{Tasks: len(a.Maps)}, &c.w.memo
	for _, l := range c.engine.Held() {
		if !l.Busy && !l.Over && plan.Serves(&snap, a.spec, l.Request) {
			q.Idle = append(q.Idle, l)
		}
	}
	return plan.Decide(a.byNeeds(q))
}

// mean returns the mean of durations, or 0 if there are none.
func mean(ds []time.Duration) time.Duration {
	sum := time.Duration(0)
	for _, d := range ds {
		sum += d
	}
	return sum / time.Duration(max(1, len(ds)))
}

// baseline returns the plan of the ways Naive and Paper: allocations for all that remains. The
// naive request also replaces Algorithm 1 in two cases. First, Algorithm 1 may find no slot, if
// MaxTime is less than T_up. Second, for the remainder of a job that did not end within T_up,
// Algorithm 1 would request less time than the engine needs to start the last tasks.
func (w *World) baseline(a *app, rest *job.Remaining) plan.Plan {
	b := baseline{
		now: w.now, maps: len(a.Maps), reduces: len(a.Reduces), line: w.timeline(),
		maxNodes: a.spec.Request.MaxNodes, maxTime: w.queues[0].MaxTime, perNode: w.machine.size.CPUs, fewest: w.cfg.Adaptor.Fewest,
	}
	if rest != nil {
		b.maps, b.reduces = rest.Tasks, rest.Reduces
	}
	var c plan.Candidate
	ok := false
	if w.cfg.Adaptor.Way == Paper && rest == nil {
		b.invariants, _ = a.profile.Invariants(predict.Size{Kind: a.spec.Kind, Tasks: b.maps, Reduces: b.reduces})
		c, ok = b.algorithm1()
	}
	if !ok {
		c, ok = b.naive()
	}
	if !ok { // some nodes are down
		c = plan.Candidate{Take: max(1, min(b.maps+b.reduces, w.queues[0].System.Nodes())), Time: b.maxTime}
	}
	return plan.Plan{
		At: w.now, App: predict.Application(a.spec), Kind: a.spec.Kind, Tasks: len(a.Maps), Reduces: len(a.Reduces),
		Alloc: job.AllocRequest{On: siteName, Nodes: c.Take, PerNode: w.machine.size, Time: c.Time, Elastic: true,
			Batch: a.spec.Request.Batch(w.queues[0].Name), Start: c.Start},
	}
}

// timeline returns the free nodes from now on. With conservative backfilling it is the batch
// system's own timeline, otherwise that of a snapshot of the queue.
func (w *World) timeline() *timeline.Timeline {
	if w.cfg.Policy == batch.CBF {
		t := w.queues[0].Timeline(w.now)
		t.Advance(w.now)
		return t
	}
	snap := w.snapshot("")
	t, _ := snap.Timeline(cluster.View{PerNode: w.machine.size, Whole: true})
	return t
}
