package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
)

// finalists is for how many of the best slots it is asked whether fewer nodes do.
const finalists = 6

// offer is a free slot that may be weighed.
type offer struct {
	place *place
	slot  timeline.Slot
	nodes int
	bound float64 // what it can give at best: the turnaround in seconds from now
}

// offers returns all free slots of the places, the most promising first, and those
// that are of no use.
func (a *adaptor) offers(places []*place) (good []offer, out []option) {
	for _, p := range places {
		bounds := map[int]float64{} // by nodes
		for _, s := range p.slots {
			n := min(s.Nodes, p.capNodes)
			if n < p.minNodes {
				out = append(out, option{place: p, slot: s, nodes: n, start: a.seconds(s.Start), mean: math.Inf(1),
					out: "fewer nodes than the " + job.FormatCount(p.minNodes) + " that are wanted at least"})
				continue
			}
			low, ok := bounds[n]
			if !ok {
				low = p.startUp + a.low(p, n)
				bounds[n] = low
			}
			good = append(good, offer{p, s, n, a.seconds(s.Start) + a.atBest(p, s, n, low)})
		}
	}
	slices.SortStableFunc(good, func(x, y offer) int { return cmp.Compare(x.bound, y.bound) })
	return good, out
}

// atBest returns the least turnaround from the start of a slot on that it can give: the
// lower bound of the run or, where the slot is too short for that, the slot and after it
// what is then left on as many nodes as are of use.
func (a *adaptor) atBest(p *place, s timeline.Slot, nodes int, low float64) float64 {
	length := a.longest(p, s).Seconds()
	if a.longest(p, s) == timeline.Unbounded || low <= length {
		return low
	}
	each := float64(max(p.taskSlots, p.reduceSlots))
	left := max(0, a.work()-length*each*float64(nodes))
	return length + left/(each*float64(p.capNodes))
}

// low returns the lower bound T_low of the simulated runs on so many nodes, in seconds,
// without shuffles of the first wave.
func (a *adaptor) low(p *place, nodes int) float64 {
	stage := func(work float64, tasks, slots int) float64 {
		return work / float64(max(1, min(tasks, nodes*slots)))
	}
	maps, reduces := a.trials.Work()
	return stage(maps, a.load.Maps, p.taskSlots) + stage(reduces, a.load.Reduces, p.reduceSlots)
}

// choose finds the request with the least expected turnaround: Algorithm 1 of the paper
// "mr-job-adaptor". It walks the free slots, the most promising first, and asks of each
// what as many of its nodes as are of use make of the job. As the paper leaves open
// (models.md, section 2), more nodes than tasks can use are not taken, and of all node
// counts within closeBy of the best the smallest wins. Beyond the paper, a slot may be
// shorter than the job: what is left then waits for another.
//
// It also returns the best option of each slot that was weighed. False: there is none.
func (a *adaptor) choose(places []*place) (best option, weighed []option, ok bool) {
	good, weighed := a.offers(places)
	least, limit := math.Inf(1), noLimit
	for _, o := range good {
		if o.bound > least || a.spent > weighing/2 && least < math.Inf(1) {
			break
		}
		got := a.bestOf(o, limit)
		weighed = append(weighed, got)
		if got.out == "" {
			least, limit = min(least, got.mean), min(limit, closeTo(got))
			ok = true
		}
	}
	if !ok {
		return option{}, weighed, false
	}
	best = a.fewest(weighed)
	return a.tighten(best), weighed, true
}

// bestOf returns the best that the job can make of a slot, as far as it is no later than
// the limit.
func (a *adaptor) bestOf(o offer, limit float64) option {
	best := option{place: o.place, slot: o.slot, nodes: o.nodes, start: a.seconds(o.slot.Start)}
	if best.mean = a.atLeast(o.place, o.slot, o.nodes); best.mean > limit {
		best.beaten = true
		return best
	}
	requests, why := a.variants(o.place, o.slot, o.nodes)
	best.out, best.mean = why, math.Inf(1)
	for i, r := range requests {
		way := option{place: o.place, slot: o.slot, nodes: r.nodes, time: r.time}
		if got := a.weigh(way, nil, limit); i == 0 || got.out == "" && (best.out != "" || got.mean < best.mean) {
			best = got
		}
	}
	return best
}

// fewest returns, of all options within closeBy of the least turnaround, the one with
// the fewest nodes; of those the one with the fewest cores, then the soonest done. One
// whose time does for the job goes before those that need another after it, whose nodes
// do not show here.
func (a *adaptor) fewest(weighed []option) option {
	bound := math.Inf(1)
	for _, o := range weighed {
		if o.out == "" {
			bound = min(bound, closeTo(o))
		}
	}
	near := slices.DeleteFunc(slices.Clone(weighed), func(o option) bool { return o.out != "" || o.mean > bound })
	if slices.ContainsFunc(near, sure) {
		near = slices.DeleteFunc(near, func(o option) bool { return !sure(o) })
	}
	slices.SortStableFunc(near, func(x, y option) int { return cmp.Compare(x.mean, y.mean) })
	near = near[:min(len(near), finalists)]
	for i, o := range near {
		near[i] = a.fewer(o, bound, nil)
	}
	return slices.MinFunc(near, func(x, y option) int {
		return cmp.Or(cmp.Compare(x.nodes, y.nodes), cmp.Compare(x.place.perNode.CPUs, y.place.perNode.CPUs),
			cmp.Compare(x.mean, y.mean), cmp.Compare(x.start, y.start))
	})
}

// closeTo returns up to which turnaround another option counts as no later than this one.
// It is closeBy of the run alone: the wait before it is often much shorter than the limits
// of the jobs in the queue say, and a share of it could be a large part of the run.
func closeTo(o option) float64 { return o.mean + closeBy*max(0, o.mean-o.start) }

// sure reports whether an option's time does for the job but for riskBy of its runs.
func sure(o option) bool { return o.risk <= riskBy }

// fewer returns the option with as few nodes as keep it within the bound, and as sure.
// With fewer nodes of the same slot no run ends sooner, so halving the interval finds it.
func (a *adaptor) fewer(o option, bound float64, beside []predict.Window) option {
	risk := max(o.risk, riskBy)
	low := o.place.minNodes - 1 // too few, or not allowed
	for o.nodes-low > 1 && a.spent < weighing {
		mid := (low + o.nodes) / 2
		got, ok := a.with(o, mid, beside, bound)
		if ok && got.out == "" && got.mean <= bound && got.risk <= risk {
			o = got
		} else {
			low = mid
		}
	}
	return o
}

// with returns the option with another number of nodes, and the wall time that fits it.
func (a *adaptor) with(o option, nodes int, beside []predict.Window, limit float64) (option, bool) {
	o.nodes = nodes
	if len(beside) == 0 {
		if o.mean = a.atLeast(o.place, o.slot, nodes); o.mean > limit {
			o.beaten = true
			return o, true
		}
		var why string
		if o.time, why = a.wall(o.place, o.slot, nodes); why != "" {
			return o, false
		}
	}
	return a.weigh(o, beside, limit), true
}

// moment is more than what rounding makes of a time, in seconds.
const moment = 1e-6

// quantiles are the shares of runs whose time is weighed as wall time.
var quantiles = []float64{0.5, 0.75, 0.9, 0.95, 0.99}

// tighten returns the option with the shortest wall time that lengthens the expected
// turnaround by no more than tightBy and does for all but riskBy of the runs: less time
// fits the queue more easily than it is predicted to. An option whose slot is too short
// for that keeps all of it: a time-out costs a wait and no work.
func (a *adaptor) tighten(o option) option {
	if a.req.WallTime != job.WallAuto {
		return o
	}
	a.finely(func() {
		run, least := a.alone(o.place, o.nodes), a.least(o.place)
		times := []time.Duration{a.upper(o.place, o.nodes)}
		for _, q := range quantiles {
			times = append(times, a.ceil(run.Quantile(q)))
		}
		slices.Sort(times)
		all := a.weigh(o, nil, noLimit)
		for _, t := range slices.Compact(times) {
			if t >= o.time {
				return
			}
			if t.Seconds() < least || run.Late(t.Seconds()+moment) > riskBy {
				continue
			}
			tight := o
			tight.time = t
			if got := a.weigh(tight, nil, all.mean*(1+tightBy)); got.out == "" && got.risk <= riskBy && got.mean <= all.mean*(1+tightBy) {
				o.time, o.risk, o.done = t, got.risk, got.done
				return
			}
		}
	})
	return o
}

// later says by how much an option is done later than the chosen one.
func later(o, chosen option) string {
	switch d := o.mean - chosen.mean; {
	case o.mean > closeTo(chosen):
		return fmt.Sprintf("%s later than the chosen", duration(d))
	case o.nodes > chosen.nodes:
		return "fewer nodes do it as soon (within 1 %)"
	case o.place.perNode.CPUs > chosen.place.perNode.CPUs:
		return "fewer cores do it as soon (within 1 %)"
	default:
		return "no sooner than the chosen"
	}
}
