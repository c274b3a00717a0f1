package plan

import (
	"cmp"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
)

const (
	// scoutTime is the most wall time that is asked for a scout: as long as the slot allows up
	// to this, so that what began as a scout goes on working. All times here are in seconds.
	scoutTime = 30 * 60.0
	// blindTime is the most that is asked for all of a job of which nothing is known.
	blindTime = 24 * 3600.0
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
	blindGuess = 30.0
	// leastBlind is the shortest slot that is taken for tasks of which nothing is known,
	// if a longer one is to be had at all.
	leastBlind = 2 * 60.0
)

// blind plans tasks of which nothing is known. A scout takes a small slot: the earliest
// there is, and of those that start then the one with the most core-seconds, counted up
// to the tasks that it is to run at once and up to scoutTime. Without one (NoScout, or
// a task that was cut short) the job takes the slot with which it would be done soonest if its
// tasks took as long as is guessed, the most nodes of it that are of use, and as much time
// as is allowed up to blindTime. It sets after how many tasks the rest is to be planned, 0
// for a job that needs no more than what it gets.
func (d *decision) blind() (best Candidate, ok bool) {
	sounding := d.sounding()
	for _, o := range d.offers {
		for _, slot := range o.slots {
			c := d.blindCandidate(o, slot, sounding)
			d.weighed = append(d.weighed, c)
			if c.rejected == "" && (!ok || d.sooner(&c, &best) < 0) {
				best, ok = c, true
			}
		}
	}
	if ok && sounding {
		d.scout = d.sound(best.Take * best.offer.taskSlots)
	}
	return best, ok
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

// blindCandidate returns what would be asked for in a slot.
func (a *adaptor) blindCandidate(o *offer, slot timeline.Slot, sounding bool) Candidate {
	c := a.candidate(o, slot, min(slot.Nodes, o.capNodes))
	longest := blindTime
	if sounding && a.load.Maps > c.Take*o.taskSlots {
		want := max(fewTasks, ceilDiv(a.load.Maps, scoutPart))
		c.Take = min(c.Take, max(o.minNodes, min(ceilDiv(want, o.taskSlots), max(2, o.usable/scoutNodes))))
		longest = scoutTime
	}
	limit := a.longest(&c)
	if c.wall = min(limit, a.ceil(max(longest, 4*a.cutShort()))); a.req.WallTime == job.WallMax {
		c.wall = limit
	}
	if c.rejected = c.tooFew(); c.rejected != "" {
		return c
	}
	if limit < a.leastBlind(o) {
		c.rejected = "its " + duration(c.Duration.Seconds()) + " are too short for tasks that nothing is known of"
		return c
	}
	a.check(&c)
	return c
}

// cutShort returns how long a task had run when its allocation ended, in seconds; 0: none had.
func (a *adaptor) cutShort() float64 {
	if a.q.Rest == nil {
		return 0
	}
	return a.q.Rest.CutShort.Seconds()
}

// leastBlind returns the shortest wall time that is taken for unknown tasks, in seconds.
func (a *adaptor) leastBlind(o *offer) float64 {
	least := leastBlind
	if r := a.q.Rest; r != nil {
		least = max(2*a.cutShort(), o.ready()+max(r.Span.Seconds(), leastBlind))
	}
	return min(least, o.maxTime)
}

// sooner compares two candidates for unknown tasks: for a scout the earlier start goes first, else
// the one that is guessed to be done earlier; then the earlier start, the one with more
// core-seconds, and the one with fewer nodes and cores.
func (a *adaptor) sooner(x, y *Candidate) int {
	worth := func(c *Candidate) float64 {
		slots := min(c.Take*c.offer.taskSlots, max(a.load.Maps, a.load.Reduces))
		return float64(slots) * min(c.wall, blindTime)
	}
	guessed := 0
	if !a.sounding() {
		guessed = cmp.Compare(a.guessed(x), a.guessed(y))
	}
	return cmp.Or(guessed, cmp.Compare(x.Wait, y.Wait), cmp.Compare(worth(y), worth(x)), cmp.Compare(x.Take, y.Take),
		cmp.Compare(x.PerNode.CPUs, y.PerNode.CPUs))
}

// guess returns how long a task is taken to last where no scout is sent, in seconds:
// blindGuess, or twice as long as one had run that was cut short.
func (a *adaptor) guess() float64 { return max(blindGuess, 2*a.cutShort()) }

// guessed returns when the job would be done, in seconds from now, if each task took as long
// as is guessed. What does not fit into the candidate's time follows on as many nodes as are of
// use, once the queue has room for them.
//
// By the earliest start alone a job would sit on the smallest hole of the queue for as long as
// that lasts. The guess need not be true. It is a short one, as who waits for more nodes
// than the tasks are worth loses more than who takes too few: in simulations of tasks of
// 20 s to 40 min it did not lengthen the mean turnaround of the jobs, shortened it by a tenth
// where tasks were long, and that of the others by as much where all nodes were wanted.
func (a *adaptor) guessed(c *Candidate) float64 {
	o, each := c.offer, a.guess()
	run := o.startUp + each*float64(a.waves(o, c.Take))
	if run <= c.wall {
		return c.Wait + run
	}
	left := max(each, (1-c.wall/run)*each*float64(a.waves(o, o.capNodes)))
	t := min(o.startUp+left, 2*never)
	next := max(a.fit(o.line, c.end(), o.capNodes, t), c.end()+a.fit(o.queue, 0, o.capNodes, t))
	return next + o.startUp + left
}

// waves returns in how many waves the tasks run on so many nodes.
func (a *adaptor) waves(o *offer, nodes int) int {
	slots := nodes * o.taskSlots
	if a.throttle > 0 {
		slots = min(slots, a.throttle)
	}
	return ceilDiv(a.load.Maps, slots) + ceilDiv(a.load.Reduces, nodes*o.reduceSlots)
}

// whyBlind says why a candidate for unknown tasks was chosen, if for no scout.
func (a *adaptor) whyBlind() string {
	if a.sounding() {
		return "the earliest start"
	}
	return "soonest done" + a.ifGuessed()
}

// whyNotBlind says why a candidate for unknown tasks lost.
func (a *adaptor) whyNotBlind(c, chosen *Candidate) string {
	if !a.sounding() {
		if s := a.guessed(c) - a.guessed(chosen); s > moment {
			return duration(s) + " later than the chosen" + a.ifGuessed()
		}
	}
	if s := c.Wait - chosen.Wait; s > 0 {
		return "starts " + duration(s) + " later than the chosen"
	}
	return "fewer core-hours than the chosen"
}

func (a *adaptor) ifGuessed() string { return " if a task takes " + duration(a.guess()) }
