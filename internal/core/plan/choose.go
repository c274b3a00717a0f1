package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// finalists is for how many of the best slots fewer nodes are tried.
const finalists = 6

// candidates returns a candidate for each free slot of the offers: the feasible ones in the order of their lower
// bound of the turnaround, and the rejected ones.
func (a *adaptor) candidates(offers []*offer) (feasible, rejected []Candidate) {
	for _, o := range offers {
		feasible = slices.Grow(feasible, len(o.slots))
		for _, slot := range o.slots {
			c := a.candidate(o, slot, o.filled(min(slot.Nodes, o.capNodes)))
			if c.rejected = c.tooFew(); c.rejected != "" {
				rejected = append(rejected, c)
				continue
			}
			c.Total, c.beaten = a.atLeast(&c), true
			feasible = append(feasible, c)
		}
	}
	return smallest(feasible, len(feasible), total), rejected
}

// tooFew returns the reason why the candidate has too few nodes, or an empty string.
func (c *Candidate) tooFew() string {
	if c.Take >= c.offer.minNodes {
		return ""
	}
	return "fewer nodes than the required minimum of " + job.FormatCount(c.offer.minNodes)
}

// choose returns the candidate with the least expected turnaround: Algorithm 1 of the paper "mr-job-adaptor". It
// evaluates the free slots in the order of their lower bounds, each with the largest useful number of its nodes. Two
// points that the paper leaves open (models.md, "Batch systems"): nodes that no task could use are not requested, and
// of all node counts within closeBy of the best the smallest wins. Beyond the paper, a slot may be shorter than the
// job: the rest of the job then waits for another slot.
//
// Where requests meet the deadline it returns the cheapest of these instead. The best candidate of each evaluated slot is kept in d.evaluated.
// ok is false where no slot is feasible.
func (d *decision) choose() (best Candidate, ok bool) {
	feasible, rejected := d.candidates(d.offers)
	if d.evaluated = rejected; d.due > 0 {
		d.compare(feasible)
		for _, c := range d.inTime() {
			if d.surely(&c) {
				return d.tighten(c), true
			}
		}
		d.due, d.spent, d.evaluated = 0, 0, rejected // the plan is that of a job without a deadline
	}
	if d.req.WallTime == job.WallUpper {
		if best, ok = d.printed(feasible); ok {
			return best, true
		}
	}
	if !d.compare(feasible) {
		return Candidate{}, false
	}
	return d.tighten(d.saveEnergy(d.fewest(d.evaluated))), true
}

// compare evaluates the feasible candidates until no other can be better. It returns false where none can be had.
func (d *decision) compare(feasible []Candidate) (ok bool) {
	least, limit := math.Inf(1), noLimit
	for _, c := range feasible {
		if c.Total > max(least, d.due) || d.spent > maxPlaced/2 && least < math.Inf(1) {
			break
		}
		got := d.bestOf(c, max(limit, d.due))
		d.evaluated = append(d.evaluated, got)
		if got.rejected == "" {
			least, limit = min(least, got.Total), min(limit, got.closeTo())
			ok = true
		}
	}
	return ok
}

// printed returns the candidate that Algorithm 1 selects as it is printed: of each slot that lasts as long as the upper bound of the run time
// all nodes that the job can use, and of these the slot in which that time is over first. What the run is expected to take has no influence.
// ok is false where no slot and no partition allows that much time.
func (d *decision) printed(feasible []Candidate) (best Candidate, ok bool) {
	evaluated := slices.Clone(d.evaluated)
	for _, c := range feasible {
		if ok && c.Total > best.Total { // its lower bound
			break
		}
		c.beaten = false
		if c.wall, c.rejected = d.wallTime(&c); c.rejected == "" && d.upperBound(&c) > c.wall {
			c.rejected = "the upper bound of the run time is longer than the longest wall time allowed"
		}
		if c.rejected == "" {
			c = d.evaluate(c, nil, noLimit)
		}
		if c.Total = c.Wait + c.wall; c.rejected != "" {
			c.Total = math.Inf(1)
		}
		if evaluated = append(evaluated, c); c.rejected == "" && (!ok || c.Total < best.Total || c.Total == best.Total && c.Wait < best.Wait) {
			best, ok = c, true
		}
	}
	if ok {
		d.evaluated = evaluated
	}
	return best, ok
}

// bestOf returns the best candidate in the slot of a candidate of which a lower bound of the turnaround is known. If that exceeds the limit
// nothing is simulated.
func (a *adaptor) bestOf(c Candidate, limit float64) Candidate {
	if c.Total > limit {
		return c
	}
	best := a.candidate(c.offer, c.Slot, c.Take)
	ways, why := a.variants(best)
	best.rejected = why
	for i, way := range ways {
		if got := a.evaluate(way, nil, limit); i == 0 || got.rejected == "" && (best.rejected != "" || got.Total < best.Total) {
			best = got
		}
	}
	return best
}

// fewest selects among the candidates within closeBy of the least turnaround: the cheapest, then the one with the
// fewest nodes, then with the fewest cores, then the one that ends soonest.
func (a *adaptor) fewest(evaluated []Candidate) Candidate {
	bound := math.Inf(1)
	for _, c := range evaluated {
		if c.rejected == "" {
			bound = min(bound, c.closeTo())
		}
	}
	near := slices.DeleteFunc(slices.Clone(evaluated), func(c Candidate) bool { return c.rejected != "" || c.Total > bound })
	near = smallest(near, finalists, total)
	for i, c := range near {
		near[i] = a.fewerNodes(c, bound, nil)
	}
	return slices.MinFunc(near, func(x, y Candidate) int {
		return cmp.Or(cmp.Compare(x.hourlyPrice(), y.hourlyPrice()), cmp.Compare(x.Take, y.Take), cmp.Compare(x.PerNode.CPUs, y.PerNode.CPUs),
			cmp.Compare(x.Total, y.Total), cmp.Compare(x.Wait, y.Wait))
	})
}

// closeTo returns the turnaround, in seconds, up to which another candidate counts as no later than this one. The
// tolerance is a fraction of the run alone: the wait before it is often much shorter than the time limits in the
// queue suggest, and a fraction of the wait could be a large part of the run.
func (c *Candidate) closeTo() float64 { return c.Total + closeBy*max(0, c.Total-c.Wait) }

// fewerNodes returns the candidate with the fewest nodes whose turnaround is within the bound and whose risk is no larger.
// With fewer nodes of the same slot no run ends sooner, so bisection finds it. The candidate keeps all of its nodes if those to be left out
// would do more than half of their share: jobs that fill a cluster one after the other would lengthen the queue more than they leave to others.
func (a *adaptor) fewerNodes(c Candidate, bound float64, beside []predict.Window) Candidate {
	all, due := c, a.meetsDeadline(&c)
	if due {
		bound = a.due
	}
	low := c.offer.minNodes - 1 // infeasible
	for c.Take-low > 1 && a.spent < maxPlaced {
		mid := (low + c.Take) / 2
		if got, ok := a.withNodes(c, mid, beside, bound); ok && a.asGood(&got, &all, bound) {
			c = got
		} else {
			low = mid
		}
	}
	if share := 1 - float64(c.Take)/float64(all.Take); !due && c.Total-all.Total > share/2*(all.Total-all.Wait) {
		return all
	}
	return c
}

// asGood reports whether a candidate may stand in for another one: the job is done within the bound, no more runs overrun its wall time, and it
// meets the deadline if the other one does.
func (a *adaptor) asGood(c, than *Candidate, bound float64) bool {
	return c.rejected == "" && c.Total <= bound && c.Risk <= max(than.Risk, riskBy) && (!a.meetsDeadline(than) || a.meetsDeadline(c))
}

// withNodes returns the candidate with another number of nodes and the wall time that fits them; false where the slot
// is too short.
func (a *adaptor) withNodes(c Candidate, nodes int, beside []predict.Window, limit float64) (Candidate, bool) {
	c.Take, c.part = nodes, true
	if len(beside) == 0 {
		if c.Total = a.atLeast(&c); c.Total > limit {
			c.beaten = true
			return c, true
		}
		var why string
		if c.wall, why = a.wallTime(&c); why != "" {
			return c, false
		}
	}
	return a.evaluate(c, beside, limit), true
}

// moment is a time above all rounding errors, in seconds.
const moment = 1e-6

// quantiles are the quantiles of the run time that are tried as wall time.
var quantiles = []float64{0.5, 0.75, 0.9, 0.95, 0.99}

// tighten returns the candidate with the shortest wall time that lengthens the expected turnaround by at most tightBy
// and that at most the fraction riskBy of the runs overruns: a shorter request may start earlier than predicted. A
// candidate whose slot is too short for that keeps all of the slot: a run that overruns it costs a wait and loses no
// finished task.
func (a *adaptor) tighten(c Candidate) Candidate {
	if a.req.WallTime != job.WallAuto {
		return c
	}
	a.withFineSample(func() {
		run, least := a.runsAlone(c.offer, c.Take), a.leastUsefulWall(c.offer)
		times := []float64{a.upperBound(&c)}
		for _, q := range quantiles {
			times = append(times, a.ceilGrain(run.Quantile(q)))
		}
		slices.Sort(times)
		all := a.evaluate(c, nil, noLimit)
		for _, t := range slices.Compact(times) {
			if t >= c.wall {
				return
			}
			if t < least || run.Late(t+moment) > riskBy {
				continue
			}
			tight := c
			tight.wall = t
			if got := a.evaluate(tight, nil, all.Total*(1+tightBy)); a.asGood(&got, &c, all.Total*(1+tightBy)) {
				c.wall, c.Risk, c.done = t, got.Risk, got.done
				return
			}
		}
	})
	return c
}

// delayInWords returns by how much a candidate's turnaround exceeds that of the chosen one, in words.
func delayInWords(c, chosen *Candidate) string {
	switch d := c.Total - chosen.Total; {
	case c.Total > chosen.closeTo():
		return fmt.Sprintf("ends %s later than the chosen slot", duration(d))
	case c.Take > chosen.Take:
		return "fewer nodes end the job as soon (within 1 %)"
	case c.PerNode.CPUs > chosen.PerNode.CPUs:
		return "fewer cores end the job as soon (within 1 %)"
	default:
		return "ends no sooner than the chosen slot"
	}
}
