package plan

import (
	"math"
	"slices"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// With --courtesy X a plan costs the jobs of others less time (models.md, "Batch systems"). A batch system that keeps a place for each
// waiting job gives a request a slot that delays none of them, so the choice of a slot hardly matters to others. What does is how full
// the queue is behind the request: where each allocation lasts as long as it said, nothing becomes free early, and no job moves forward.
// So a courteous request asks for more time than its job needs, where that costs the job nothing, and is given back early: the batch
// system then moves waiting jobs forward, most of all the short ones.

// courteous reports whether the user's requests do something for the jobs of others: there are such jobs, and the batch system keeps a
// place for each that waits. Where it keeps places for the first ones only, the others start when they happen to fit, and no place
// moves forward.
func (a *adaptor) courteous() bool {
	q := a.q.Snap.Queue
	others := func(p cluster.Queued) bool { return p.User != q.User && p.Held == "" }
	unplaced := func(p cluster.Queued) bool { return others(p) && p.Start == 0 }
	return a.req.Courtesy > 0 && !slices.ContainsFunc(q.Pending, unplaced) &&
		(slices.ContainsFunc(q.Pending, others) || slices.ContainsFunc(q.Running, others))
}

// lengthen gives the chosen requests whose free slots have no end more wall time, as much as --courtesy says, where they and the other
// chosen ones are expected to begin no later for that.
func (d *decision) lengthen() {
	if !d.courteous() || d.req.WallTime != job.WallAuto {
		return
	}
	for i := range d.chosen {
		c := &d.chosen[i]
		if c.Duration != timeline.Unbounded || math.IsInf(c.wall, 1) || c.offer.left != nil {
			continue
		}
		more := *c
		more.wall = max(c.wall, min(d.ceilGrain(c.wall*(1+d.req.Courtesy)), d.longest(c)))
		more.Wait = d.expectedWait(&more)
		if d.askBatchSystem(&more); more.rejected != "" || more.Wait > c.Wait+tightBy*(c.Total-c.Wait) || !d.leavesRoom(i, &more) {
			continue
		}
		*c = more
	}
}

// leavesRoom reports whether the nodes of a request are free for as long as it lasts, besides those of the other chosen ones.
func (d *decision) leavesRoom(i int, c *Candidate) bool {
	if len(d.chosen) == 1 {
		return true
	}
	at := slices.IndexFunc(d.offers, func(o *offer) bool { return o.part == c.offer.part && o.perNode == c.offer.perNode })
	line := d.offers[at].line.Clone()
	for k := range d.chosen {
		if o := &d.chosen[k]; k != i && o.offer.overlaps(c.offer) {
			line.Add(d.instant(o.Wait), d.instant(o.wallEnd()), -o.Take)
		}
	}
	return line.Min(d.instant(c.Wait), d.instant(c.wallEnd())) >= c.Take
}
