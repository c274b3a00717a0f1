package plan

import (
	"cmp"
	"slices"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/timeline"
)

const (
	// scoutTime is the longest wall time of a scout, in seconds, as all times here. A scout gets as much as its slot
	// allows up to this time, because it goes on as one of the job's allocations.
	scoutTime = 30 * 60.0
	// blindTime is the longest wall time of an allocation for a whole job without a profile.
	blindTime = 24 * 3600.0
	// A scout has slots for one in scoutPart of the tasks. While another user's job waits, it has at most one in scoutNodes of
	// the partition's nodes (or two nodes); nodes for which nobody waits would be idle until the rest is planned.
	scoutPart, scoutNodes = 8, 4
	// The scout of an open bag has slots for one in openPart of the tasks that there are, as long as nobody else waits for nodes:
	// whoever adds tasks mostly adds the next when these are done, and nodes that are idle are given back soon.
	openPart = 2
	// At most one in scoutShare of the tasks are measured before the rest is planned.
	scoutShare = 4
	// fewTasks is the least number of tasks that a scout runs at once, if the job has as many; leastWave is the least
	// number that it measures where its nodes run fewer at once.
	fewTasks, leastWave = 5, 3
	// blindGuess is the assumed duration of a task without a profile, by which slots are compared when no scout is
	// sent, see guessed.
	blindGuess = 30.0
	// leastBlind is the shortest slot that is taken for tasks of which nothing is known,
	// if a longer one is to be had at all.
	leastBlind = 2 * 60.0
)

// withoutProfile chooses a slot for tasks without a profile. A scout takes a small slot: the earliest, and among those with
// the same start the one with the most core-seconds, counted up to the tasks that it runs at once and up to
// scoutTime. Without a scout (NoScout, or a task that was cut short) the job takes the slot with the earliest end if
// its tasks had the assumed duration, with the largest useful number of nodes, for as much time as is allowed up to
// blindTime. blind also sets d.scout, the number of measured tasks after which the rest is planned; 0 for a job whose
// tasks all run at once.
func (d *decision) withoutProfile() (best Candidate, ok bool) {
	scouting := d.scouting()
	for _, o := range d.offers {
		for _, slot := range o.slots {
			c := d.blindCandidate(o, slot, scouting)
			d.evaluated = append(d.evaluated, c)
			if c.rejected == "" && (!ok || d.sooner(&c, &best) < 0) {
				best, ok = c, true
			}
		}
	}
	if ok && scouting {
		d.scout = d.scoutTasks(best.offer.taskSlots.onNodes(best.Take))
	}
	return best, ok
}

// scouting reports whether a scout is sent when the job has no profile. A task that was cut short, or that starts again where
// it ended, is known to last longer than its allocation, so no scout is sent then.
func (a *adaptor) scouting() bool {
	return !a.req.NoScout && a.cutShort() == 0
}

// scoutTasks returns how many tasks are measured on that many slots before the rest is planned; 0 where all tasks run
// at once. It is one wave of tasks, because the nodes that the rest will use are idle meanwhile.
func (a *adaptor) scoutTasks(slots int) int {
	if a.load.Maps <= slots {
		return 0
	}
	return max(1, min(a.load.Maps/scoutShare, max(leastWave, slots)))
}

// scoutTasksOn returns scoutTasks for a job that has not begun and uses allocations that exist already.
func (a *adaptor) scoutTasksOn(live []predict.Window) int {
	if a.q.Remaining != nil && !isOpen(a.q.Spec) {
		return 0
	}
	return a.scoutTasks(slotsIn(live))
}

// slotsIn returns how many bag tasks or maps run at once in windows that begin and end together.
func slotsIn(windows []predict.Window) (slots int) {
	for _, w := range windows {
		slots += w.TaskSlots
	}
	return slots
}

// scoutSlots returns how many slots a scout has at least.
func (a *adaptor) scoutSlots() int {
	part := scoutPart
	if isOpen(a.q.Spec) && a.unrivalled() {
		part = openPart
	}
	return max(fewTasks, ceilDiv(a.load.Maps, part))
}

// mostOfScout returns how many nodes of an offer a scout has at most.
func (a *adaptor) mostOfScout(o *offer) int {
	if a.unrivalled() {
		return o.usable
	}
	return max(2, o.usable/scoutNodes)
}

// unrivalled reports whether no other user's job waits that may start.
func (a *adaptor) unrivalled() bool {
	q := a.q.Snap.Queue
	return !slices.ContainsFunc(q.Pending, func(p cluster.Queued) bool { return p.User != q.User && p.Held == "" })
}

// belowScout reports whether an open bag has fewer slots than a scout for its tasks would have, as its allocations were requested for fewer
// tasks than there are now, and may have another one.
func (d *decision) belowScout() bool {
	return isOpen(d.q.Spec) && slotsIn(d.live) < min(d.load.Maps, d.scoutSlots()) && d.allocs() > 0 && (d.req.MaxNodes == 0 || d.liveNodes() < d.req.MaxNodes) &&
		d.scouting()
}

// liveNodes returns how many nodes the present allocations have.
func (a *adaptor) liveNodes() (nodes int) {
	for _, l := range a.q.liveAllocations() {
		nodes += l.Request.Nodes
	}
	return nodes
}

// blindCandidate returns the request for tasks without a profile in a slot. Where all tasks run at once and nobody set a
// limit, it asks for the partition's default time, as sbatch does, but for no less than a scout gets: a task that takes
// longer is started again, once, in an allocation of up to blindTime.
func (a *adaptor) blindCandidate(o *offer, slot timeline.Slot, scouting bool) Candidate {
	c := a.candidate(o, slot, o.filled(min(slot.Nodes, o.capNodes)))
	longest := blindTime
	switch more := a.load.Maps > o.taskSlots.onNodes(c.Take); {
	case scouting && more:
		c.Take = o.filled(min(c.Take, max(o.minNodes, min(o.taskSlots.nodesFor(a.scoutSlots()), a.mostOfScout(o)))))
		longest = scoutTime
	case scouting && a.req.MaxTime == 0 && o.part.DefaultTime > 0:
		longest = min(blindTime, max(scoutTime, o.part.DefaultTime.Seconds()))
	}
	limit := a.longest(&c)
	if c.wall = min(limit, a.ceilGrain(max(longest, 4*a.cutShort(), o.minTime))); a.req.WallTime == job.WallMax {
		c.wall = limit
	}
	if c.rejected = c.tooFew(); c.rejected != "" {
		return c
	}
	if limit < a.leastBlind(o) {
		c.rejected = duration(c.Duration.Seconds()) + " is too short for tasks of unknown length"
		return c
	}
	c.Wait = a.expectedWait(&c)
	a.askBatchSystem(&c)
	a.checkStart(&c)
	return c
}

// cutShort returns how long a task had run when its allocation ended, or the mean time that tasks have worked which
// started again where they had ended, in seconds; 0 if there is none.
func (a *adaptor) cutShort() float64 {
	r := a.q.Remaining
	if r == nil {
		return 0
	}
	return max(r.CutShort.Seconds(), r.Kept.Seconds()/float64(max(1, r.Tasks)))
}

// leastBlind returns the shortest wall time that is used for tasks without a profile, in seconds.
func (a *adaptor) leastBlind(o *offer) float64 {
	least := leastBlind
	if r := a.q.Remaining; r != nil {
		least = max(2*r.CutShort.Seconds(), o.readyAfter()+max(r.Span.Seconds(), leastBlind))
	}
	return min(max(least, a.leastAsked(o)), o.maxTime)
}

// sooner compares two candidates for tasks without a profile. Without a scout the one with the earlier assumed end
// goes first. Then the order is: the earlier start, more core-seconds, fewer nodes, fewer cores.
func (a *adaptor) sooner(x, y *Candidate) int {
	worth := func(c *Candidate) float64 {
		slots := min(c.offer.taskSlots.onNodes(c.Take), max(a.load.Maps, a.load.Reduces))
		return float64(slots) * min(c.wall, blindTime)
	}
	guessed := 0
	if !a.scouting() {
		guessed = cmp.Compare(a.guessed(x), a.guessed(y))
	}
	return cmp.Or(guessed, cmp.Compare(x.Wait, y.Wait), cmp.Compare(worth(y), worth(x)), cmp.Compare(x.Take, y.Take),
		cmp.Compare(x.PerNode.CPUs, y.PerNode.CPUs))
}

// guess returns the assumed duration of a task where no scout is sent, in seconds: blindGuess, or twice the time that
// a task had run which was cut short.
func (a *adaptor) guess() float64 { return max(blindGuess, 2*a.cutShort()) }

// guessed returns the assumed end of the job, in seconds from now, if each task had the assumed duration. Work that
// exceeds the candidate's wall time follows on the largest useful number of nodes, once the queue has room for them.
//
// By the earliest start alone a job would stay on the smallest free slot of the queue for as long as that lasts. The
// assumed duration need not be right. It is short because a job that waits for more nodes than its tasks are worth
// loses more than one that uses too few: in simulations of tasks of 20 s to 40 min it did not lengthen the mean
// turnaround of the jobs, shortened it by a tenth where tasks were long, and shortened that of the other jobs by as
// much where all nodes were in demand.
func (a *adaptor) guessed(c *Candidate) float64 {
	o, each := c.offer, a.guess()
	run := o.startUp + each*float64(a.waves(o, c.Take))
	if run <= c.wall {
		return c.Wait + run
	}
	left := max(each, (1-c.wall/run)*each*float64(a.waves(o, o.capNodes)))
	t := min(o.startUp+left, 2*horizon)
	return a.waitAfter(o, c.wallEnd(), o.capNodes, t) + o.startUp + left
}

// waves returns the number of waves in which the tasks run on that many nodes.
func (a *adaptor) waves(o *offer, nodes int) int {
	return ceilDiv(a.load.Maps, min(o.taskSlots.onNodes(nodes), a.throttle)) + ceilDiv(a.load.Reduces, o.reduceSlots.onNodes(nodes))
}

// whyBlind returns the reason why a candidate for tasks without a profile was chosen where it is no scout.
func (a *adaptor) whyBlind() string {
	if a.scouting() {
		return "the earliest start"
	}
	return "ends soonest" + a.ifGuessed()
}

// whyNotBlind returns the reason why a candidate for tasks without a profile was not chosen.
func (a *adaptor) whyNotBlind(c, chosen *Candidate) string {
	if !a.scouting() {
		if s := a.guessed(c) - a.guessed(chosen); s > moment {
			return "ends " + duration(s) + " later than the chosen slot" + a.ifGuessed()
		}
	}
	if s := c.Wait - chosen.Wait; s > 0 {
		return "starts " + duration(s) + " later than the chosen slot"
	}
	return "starts no sooner, and has room for less work (fewer core-hours)"
}

func (a *adaptor) ifGuessed() string { return " if a task takes " + duration(a.guess()) }
