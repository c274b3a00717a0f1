package plan

import (
	"cmp"
	"math"
	"slices"
	"time"

	"berth/internal/cluster"
	"berth/internal/job"
	"berth/internal/predict"
)

const (
	// scoutTime is the most wall time that is asked for tasks of which nothing is known:
	// as long as the slot allows up to this, so that what began as a scout goes on working.
	scoutTime = time.Hour
	// blindTime is the most that is asked for all of a job of which nothing is known.
	blindTime = 24 * time.Hour
	// scoutPart is the part of the tasks that a scout runs at once.
	scoutPart = 8
	// scoutShare is the part of the tasks that are measured at most before the rest is planned.
	scoutShare = 4
	// fewTasks is how many tasks a scout is to measure at least, if there are that many.
	fewTasks = 5
	// leastBlind is the shortest slot that is taken for tasks of which nothing is known,
	// if a longer one is to be had at all.
	leastBlind = 2 * time.Minute
)

// blind plans tasks of which nothing is known. A scout takes a small slot: the earliest
// there is, and of those that start then the one with the most core-seconds, counted up
// to the tasks that it is to run at once and up to scoutTime. Without one (NoScout, or
// a job that has begun) the job takes the most nodes that are of use by the same rule,
// and as much time as is allowed up to blindTime. scout is after how many tasks the
// rest is to be planned, 0 for a job that needs no more than what it gets.
func (a *adaptor) blind(places []*place) (best option, weighed []option, scout int, ok bool) {
	sounding := !a.req.NoScout && a.q.Rest == nil
	for _, p := range places {
		for _, s := range p.slots {
			o := a.blindOption(p, s, sounding)
			weighed = append(weighed, o)
			if o.out == "" && (!ok || a.sooner(&o, &best) < 0) {
				best, ok = o, true
			}
		}
	}
	if !ok {
		return best, weighed, 0, false
	}
	if sounding {
		scout = a.sound(best.nodes * best.place.taskSlots)
	}
	return best, weighed, scout, true
}

// sound returns how many tasks are to be measured on so many slots before the rest is
// planned, 0 where all run at once.
func (a *adaptor) sound(slots int) int {
	if a.load.Maps <= slots {
		return 0
	}
	return max(1, min(a.load.Maps/scoutShare, max(fewTasks, slots)))
}

// soundBy is sound for a job that has not begun and has allocations that wait for work.
func (a *adaptor) soundBy(live []predict.Window) int {
	slots := 0
	for _, w := range live {
		slots += w.TaskSlots
	}
	if a.q.Rest != nil {
		return 0
	}
	return a.sound(slots)
}

// blindOption returns what would be asked for in a slot.
func (a *adaptor) blindOption(p *place, s cluster.Slot, sounding bool) option {
	o := option{place: p, slot: s, start: a.seconds(s.Start), mean: math.Inf(1)}
	o.nodes = min(s.Nodes, p.capNodes)
	all := a.load.Maps <= o.nodes*p.taskSlots
	if sounding && !all {
		want := max(fewTasks, ceilDiv(a.load.Maps, scoutPart))
		o.nodes = min(o.nodes, max(p.minNodes, ceilDiv(want, p.taskSlots)))
	}
	bound := blindTime
	if sounding && !all {
		bound = scoutTime
	}
	if a.q.Rest != nil {
		bound = max(bound, 4*a.q.Rest.CutShort)
	}
	limit := a.longest(p, s)
	if o.time = min(limit, a.ceil(bound.Seconds())); a.req.WallTime == job.WallMax {
		o.time = limit
	}
	switch {
	case o.nodes < p.minNodes:
		o.out = "fewer nodes than the " + grouped(p.minNodes) + " that are wanted at least"
	case limit.Seconds() < a.leastBlind(p):
		o.out = "its " + duration(s.Duration.Seconds()) + " are too short for tasks that nothing is known of"
	default:
		a.check(&o)
	}
	return o
}

// leastBlind returns the shortest wall time that is taken for unknown tasks, in seconds.
func (a *adaptor) leastBlind(p *place) float64 {
	least := leastBlind
	if r := a.q.Rest; r != nil {
		least = max(least, 2*r.CutShort, asDuration(a.ready())+max(r.Span, leastBlind))
	}
	if p.maxTime > 0 {
		least = min(least, p.maxTime)
	}
	return least.Seconds()
}

// sooner compares two options for unknown tasks: the earlier start goes first, then the
// one with more core-seconds, then the one with fewer nodes and cores.
func (a *adaptor) sooner(x, y *option) int {
	worth := func(o *option) float64 {
		slots := min(o.nodes*o.place.taskSlots, max(a.load.Maps, a.load.Reduces))
		return float64(slots) * min(o.time, blindTime).Seconds()
	}
	return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(worth(y), worth(x)), cmp.Compare(x.nodes, y.nodes),
		cmp.Compare(x.place.perNode.CPUs, y.place.perNode.CPUs))
}

// byStart sorts options by when they start.
func byStart(options []option) {
	slices.SortStableFunc(options, func(x, y option) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.nodes, y.nodes))
	})
}
