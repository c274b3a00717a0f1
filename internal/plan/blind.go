package plan

import (
	"cmp"
	"math"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
)

const (
	// scoutTime is the most wall time that is asked for a scout: as long as the slot allows up
	// to this, so that what began as a scout goes on working.
	scoutTime = 30 * time.Minute
	// blindTime is the most that is asked for all of a job of which nothing is known.
	blindTime = 24 * time.Hour
	// scoutPart is the part of the tasks that a scout runs at once, and scoutNodes the part of
	// the nodes of the partition that it has at most, but for two.
	scoutPart, scoutNodes = 8, 4
	// scoutShare is the part of the tasks that are measured at most before the rest is planned.
	scoutShare = 4
	// fewTasks is how many tasks a scout is to run at once at least, if there are that many, and
	// leastWave how many it measures at least, where its nodes run fewer at once.
	fewTasks, leastWave = 5, 3
	// blindGuess is how long a task of which nothing is known is taken to last where slots are
	// held against each other and no scout is sent, see guessed.
	blindGuess = 30 * time.Second
	// leastBlind is the shortest slot that is taken for tasks of which nothing is known,
	// if a longer one is to be had at all.
	leastBlind = 2 * time.Minute
)

// blind plans tasks of which nothing is known. A scout takes a small slot: the earliest
// there is, and of those that start then the one with the most core-seconds, counted up
// to the tasks that it is to run at once and up to scoutTime. Without one (NoScout, or
// a task that was cut short) the job takes the slot with which it would be done soonest if its
// tasks took as long as is guessed, the most nodes of it that are of use, and as much time
// as is allowed up to blindTime. scout is after how many tasks the rest is to be planned, 0
// for a job that needs no more than what it gets.
func (a *adaptor) blind(places []*place) (best option, weighed []option, scout int, ok bool) {
	sounding := a.sounding()
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

// sounding reports whether a scout is sent where nothing is known of the tasks: that one had
// run longer than its allocation lasted is something.
func (a *adaptor) sounding() bool {
	return !a.req.NoScout && (a.q.Rest == nil || a.q.Rest.CutShort == 0)
}

// sound returns how many tasks are to be measured on so many slots before the rest is
// planned, 0 where all run at once. That is one wave of them: the nodes that the rest is to
// have stand idle meanwhile.
func (a *adaptor) sound(slots int) int {
	if a.load.Maps <= slots {
		return 0
	}
	return max(1, min(a.load.Maps/scoutShare, max(leastWave, slots)))
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
func (a *adaptor) blindOption(p *place, s timeline.Slot, sounding bool) option {
	o := option{place: p, slot: s, start: a.seconds(s.Start), mean: math.Inf(1)}
	o.nodes = min(s.Nodes, p.capNodes)
	all := a.load.Maps <= o.nodes*p.taskSlots
	if sounding && !all {
		want := max(fewTasks, ceilDiv(a.load.Maps, scoutPart))
		o.nodes = min(o.nodes, max(p.minNodes, min(ceilDiv(want, p.taskSlots), max(2, p.usable/scoutNodes))))
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
		o.out = "fewer nodes than the " + job.FormatCount(p.minNodes) + " that are wanted at least"
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
		least = max(least, 2*r.CutShort, asDuration(p.ready())+max(r.Span, leastBlind))
	}
	if p.maxTime > 0 {
		least = min(least, p.maxTime)
	}
	return least.Seconds()
}

// sooner compares two options for unknown tasks: for a scout the earlier start goes first, else
// the one that is guessed to be done earlier; then the earlier start, the one with more
// core-seconds, and the one with fewer nodes and cores.
func (a *adaptor) sooner(x, y *option) int {
	worth := func(o *option) float64 {
		slots := min(o.nodes*o.place.taskSlots, max(a.load.Maps, a.load.Reduces))
		return float64(slots) * min(o.time, blindTime).Seconds()
	}
	guessed := 0
	if !a.sounding() {
		guessed = cmp.Compare(a.guessed(x), a.guessed(y))
	}
	return cmp.Or(guessed, cmp.Compare(x.start, y.start), cmp.Compare(worth(y), worth(x)), cmp.Compare(x.nodes, y.nodes),
		cmp.Compare(x.place.perNode.CPUs, y.place.perNode.CPUs))
}

// guess returns how long a task is taken to last where no scout is sent, in seconds:
// blindGuess, or twice as long as one had run that was cut short.
func (a *adaptor) guess() float64 {
	if a.q.Rest == nil {
		return blindGuess.Seconds()
	}
	return max(blindGuess.Seconds(), 2*a.q.Rest.CutShort.Seconds())
}

// guessed returns when the job would be done, in seconds from now, if each task took as long
// as is guessed. What the option's time does not do for follows on as many nodes as are of
// use, once the queue has room for them.
//
// By the earliest start alone a job would sit on the smallest hole of the queue for as long as
// that lasts. The guess need not be true. It is a short one, as who waits for more nodes
// than the tasks are worth loses more than who takes too few: in simulations of tasks of
// 20 s to 40 min it did not lengthen the mean turnaround of the jobs, shortened it by a tenth
// where tasks were long, and that of the others by as much where all nodes were wanted.
func (a *adaptor) guessed(o *option) float64 {
	p, each := o.place, a.guess()
	run := p.startUp + each*float64(a.waves(p, o.nodes))
	if o.time == timeline.Unbounded || run <= o.time.Seconds() {
		return o.start + run
	}
	left := max(each, (1-o.time.Seconds()/run)*each*float64(a.waves(p, p.capNodes)))
	t := asDuration(p.startUp + left)
	next := max(a.fit(p.line, o.end(), p.capNodes, t), o.end()+a.fit(p.queue, 0, p.capNodes, t))
	return next + p.startUp + left
}

// waves returns in how many waves the tasks run on so many nodes.
func (a *adaptor) waves(p *place, nodes int) int {
	slots := nodes * p.taskSlots
	if a.throttle > 0 {
		slots = min(slots, a.throttle)
	}
	return ceilDiv(a.load.Maps, slots) + ceilDiv(a.load.Reduces, nodes*p.reduceSlots)
}

// whyBlind says why an option for unknown tasks was chosen, if for no scout.
func (a *adaptor) whyBlind() string {
	if a.sounding() {
		return "the earliest start"
	}
	return "soonest done" + a.ifGuessed()
}

// whyNotBlind says why an option for unknown tasks lost.
func (a *adaptor) whyNotBlind(o, chosen *option) string {
	if !a.sounding() {
		if s := a.guessed(o) - a.guessed(chosen); s > moment {
			return duration(s) + " later than the chosen" + a.ifGuessed()
		}
	}
	if s := o.start - chosen.start; s > 0 {
		return "starts " + duration(s) + " later than the chosen"
	}
	return "fewer core-hours than the chosen"
}

func (a *adaptor) ifGuessed() string { return " if a task takes " + duration(a.guess()) }

// byStart sorts options by when they start.
func byStart(options []option) {
	slices.SortStableFunc(options, func(x, y option) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.nodes, y.nodes))
	})
}
