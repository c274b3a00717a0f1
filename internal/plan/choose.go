package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"berth/internal/job"
	"berth/internal/predict"
)

// finalists is for how many of the best slots it is asked whether fewer nodes do.
const finalists = 6

// found returns a candidate for each free slot of the offers, the most promising first, and those
// that are of no use.
func (a *adaptor) found(offers []*offer) (good, rejected []Candidate) {
	for _, o := range offers {
		bounds := map[int]float64{} // by nodes
		for _, slot := range o.slots {
			c := a.candidate(o, slot, min(slot.Nodes, o.capNodes))
			if c.rejected = c.tooFew(); c.rejected != "" {
				rejected = append(rejected, c)
				continue
			}
			low, ok := bounds[c.Take]
			if !ok {
				low = o.startUp + a.low(o, c.Take)
				bounds[c.Take] = low
			}
			c.Total, c.beaten = c.Wait+a.atBest(&c, low), true
			good = append(good, c)
		}
	}
	return least(good, len(good), total), rejected
}

// tooFew says that the nodes are fewer than are wanted; empty: they are not.
func (c *Candidate) tooFew() string {
	if c.Take >= c.offer.minNodes {
		return ""
	}
	return "fewer nodes than the " + job.FormatCount(c.offer.minNodes) + " that are wanted at least"
}

// atBest returns the least turnaround from the start of a slot on that it can give: the
// lower bound of the run or, where the slot is too short for that, the slot and after it
// what is then left on as many nodes as are of use.
func (a *adaptor) atBest(c *Candidate, low float64) float64 {
	length := a.longest(c)
	if low <= length {
		return low
	}
	each := float64(max(c.offer.taskSlots, c.offer.reduceSlots))
	left := max(0, a.work()-length*each*float64(c.Take))
	return length + left/(each*float64(c.offer.capNodes))
}

// low returns the lower bound T_low of the simulated runs on so many nodes, in seconds,
// without shuffles of the first wave.
func (a *adaptor) low(o *offer, nodes int) float64 {
	stage := func(work float64, tasks, slots int) float64 {
		return work / float64(max(1, min(tasks, nodes*slots)))
	}
	maps, reduces := a.trials.Work()
	return stage(maps, a.load.Maps, o.taskSlots) + stage(reduces, a.load.Reduces, o.reduceSlots)
}

// choose finds the request with the least expected turnaround: Algorithm 1 of the paper
// "mr-job-adaptor". It walks the free slots, the most promising first, and asks of each
// what as many of its nodes as are of use make of the job. As the paper leaves open
// (models.md, section 2), more nodes than tasks can use are not taken, and of all node
// counts within closeBy of the best the smallest wins. Beyond the paper, a slot may be
// shorter than the job: what is left then waits for another.
//
// The best candidate of each slot that was weighed is left in the decision. False: there is none.
func (d *decision) choose() (best Candidate, ok bool) {
	var good []Candidate
	good, d.weighed = d.found(d.offers)
	least, limit := math.Inf(1), noLimit
	for _, c := range good {
		if c.Total > least || d.spent > weighing/2 && least < math.Inf(1) {
			break
		}
		got := d.bestOf(c, limit)
		d.weighed = append(d.weighed, got)
		if got.rejected == "" {
			least, limit = min(least, got.Total), min(limit, got.closeTo())
			ok = true
		}
	}
	if !ok {
		return Candidate{}, false
	}
	return d.tighten(d.thrifty(d.fewest(d.weighed))), true
}

// bestOf returns the best that the job can make of a candidate's slot, as far as it is no later
// than the limit.
func (a *adaptor) bestOf(c Candidate, limit float64) Candidate {
	best := a.candidate(c.offer, c.Slot, c.Take)
	if best.Total = a.atLeast(&best); best.Total > limit {
		best.beaten = true
		return best
	}
	ways, why := a.variants(best)
	best.rejected, best.Total = why, math.Inf(1)
	for i, way := range ways {
		if got := a.weigh(way, nil, limit); i == 0 || got.rejected == "" && (best.rejected != "" || got.Total < best.Total) {
			best = got
		}
	}
	return best
}

// fewest returns, of all candidates within closeBy of the least turnaround, the cheapest; of those
// the one with the fewest nodes, then with the fewest cores, then the soonest done. One whose time
// does for the job goes before those that need another after it, whose nodes do not show here.
func (a *adaptor) fewest(weighed []Candidate) Candidate {
	bound := math.Inf(1)
	for _, c := range weighed {
		if c.rejected == "" {
			bound = min(bound, c.closeTo())
		}
	}
	near := slices.DeleteFunc(slices.Clone(weighed), func(c Candidate) bool { return c.rejected != "" || c.Total > bound })
	if slices.ContainsFunc(near, sure) {
		near = slices.DeleteFunc(near, func(c Candidate) bool { return !sure(c) })
	}
	near = least(near, finalists, total)
	for i, c := range near {
		near[i] = a.fewer(c, bound, nil)
	}
	return slices.MinFunc(near, func(x, y Candidate) int {
		return cmp.Or(cmp.Compare(x.rate(), y.rate()), cmp.Compare(x.Take, y.Take), cmp.Compare(x.PerNode.CPUs, y.PerNode.CPUs),
			cmp.Compare(x.Total, y.Total), cmp.Compare(x.Wait, y.Wait))
	})
}

// closeTo returns up to which turnaround another candidate counts as no later than this one.
// It is closeBy of the run alone: the wait before it is often much shorter than the limits
// of the jobs in the queue say, and a share of it could be a large part of the run.
func (c *Candidate) closeTo() float64 { return c.Total + closeBy*max(0, c.Total-c.Wait) }

// sure reports whether a candidate's time is long enough for all but the fraction riskBy of the job's runs.
func sure(c Candidate) bool { return c.Risk <= riskBy }

// fewer returns the candidate with as few nodes as keep it within the bound, and as sure.
// With fewer nodes of the same slot no run ends sooner, so halving the interval finds it.
func (a *adaptor) fewer(c Candidate, bound float64, beside []predict.Window) Candidate {
	risk := max(c.Risk, riskBy)
	low := c.offer.minNodes - 1 // too few, or not allowed
	for c.Take-low > 1 && a.spent < weighing {
		mid := (low + c.Take) / 2
		got, ok := a.with(c, mid, beside, bound)
		if ok && got.rejected == "" && got.Total <= bound && got.Risk <= risk {
			c = got
		} else {
			low = mid
		}
	}
	return c
}

// with returns the candidate with another number of nodes, and the wall time that fits it.
func (a *adaptor) with(c Candidate, nodes int, beside []predict.Window, limit float64) (Candidate, bool) {
	c.Take = nodes
	if len(beside) == 0 {
		if c.Total = a.atLeast(&c); c.Total > limit {
			c.beaten = true
			return c, true
		}
		var why string
		if c.wall, why = a.wall(&c); why != "" {
			return c, false
		}
	}
	return a.weigh(c, beside, limit), true
}

// moment is more than what rounding makes of a time, in seconds.
const moment = 1e-6

// quantiles are the shares of runs whose time is weighed as wall time.
var quantiles = []float64{0.5, 0.75, 0.9, 0.95, 0.99}

// tighten returns the candidate with the shortest wall time that lengthens the expected
// turnaround by no more than tightBy and does for all but riskBy of the runs: less time
// fits the queue more easily than it is predicted to. A candidate whose slot is too short
// for that keeps all of it: a time-out costs a wait and no work.
func (a *adaptor) tighten(c Candidate) Candidate {
	if a.req.WallTime != job.WallAuto {
		return c
	}
	a.finely(func() {
		run, least := a.alone(c.offer, c.Take), a.least(c.offer)
		times := []float64{a.upper(&c)}
		for _, q := range quantiles {
			times = append(times, a.ceil(run.Quantile(q)))
		}
		slices.Sort(times)
		all := a.weigh(c, nil, noLimit)
		for _, t := range slices.Compact(times) {
			if t >= c.wall {
				return
			}
			if t < least || run.Late(t+moment) > riskBy {
				continue
			}
			tight := c
			tight.wall = t
			if got := a.weigh(tight, nil, all.Total*(1+tightBy)); got.rejected == "" && got.Risk <= riskBy && got.Total <= all.Total*(1+tightBy) {
				c.wall, c.Risk, c.done = t, got.Risk, got.done
				return
			}
		}
	})
	return c
}

// later says by how much a candidate is done later than the chosen one.
func later(c, chosen *Candidate) string {
	switch d := c.Total - chosen.Total; {
	case c.Total > chosen.closeTo():
		return fmt.Sprintf("%s later than the chosen", duration(d))
	case c.Take > chosen.Take:
		return "fewer nodes do it as soon (within 1 %)"
	case c.PerNode.CPUs > chosen.PerNode.CPUs:
		return "fewer cores do it as soon (within 1 %)"
	default:
		return "no sooner than the chosen"
	}
}
