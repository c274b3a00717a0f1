package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/timeline"
)

// decideBatch plans a job on a batch system.
func decideBatch(q *Question) (Plan, error) {
	parts, err := q.divide()
	var p Plan
	switch {
	case err != nil:
	case parts == nil:
		p, err = decideOne(q)
	default:
		p, err = decideParts(q, parts)
	}
	p.leaveOpen(q.Spec)
	return p, err
}

// decideOne plans a job, or a part of it, whose tasks run on the same nodes.
func decideOne(q *Question) (Plan, error) {
	l, err := DivideMachine(q.Snap, q.Spec)
	if err != nil {
		return Plan{}, err
	}
	p, why := q.planReduces(&l)
	open := why != ""
	for {
		d := decision{adaptor: newAdaptor(q)}
		if err := d.decide(p.Reduces); err != nil {
			return Plan{}, err
		}
		if alone, ok := d.withoutPresent(); ok {
			return decideOne(&alone)
		}
		// More reduces than run at once gain nothing, because all of them start with the same shuffle. How many can run
		// at once is known only after the decision.
		if slots := d.reduceSlots(); open && d.known.ok && slots > 0 && p.Reduces > slots {
			p.Reduces, open = slots, false
			why = fmt.Sprintf("%s: as many as can run at once", job.Count(slots, "reduce"))
			continue
		}
		if d.req.EnergyWeight > 0 && d.idleCost() == 0 {
			d.addNote("--energy-weight has no effect, because the idle power of a node is unknown: give it with --node-power or BERTH_NODE_POWER")
		}
		d.fillPlan(&p)
		if why != "" {
			p.Reasons = append(p.Reasons, why)
		}
		return p, nil
	}
}

// decision is the state of one decision of an adaptor.
type decision struct {
	*adaptor
	offers    []*offer
	evaluated []Candidate
	chosen    []Candidate      // the requests, in the end the earliest start first; none: the present allocations suffice
	windows   []predict.Window // of the present allocations, then of the chosen ones
	first     Candidate        // the candidate that was chosen first
	scout     int              // tasks that are measured before the rest is planned; 0: no scout
	runs      predict.Outcome  // simulated on all windows; empty: the job has no profile
	leftOut   []cluster.LeftOut
}

// decide chooses the requests among the free slots of the queue.
func (d *decision) decide(reduces int) error {
	d.setLoad(reduces)
	if err := d.findOffers(); err != nil {
		return err
	}
	d.findSlots()
	d.findMoves()
	if d.load.Maps+d.load.Reduces == 0 {
		return nil
	}
	d.live = d.liveWindows(d.offers[0])
	d.windows = d.live
	if !d.known.ok {
		return d.decideBlind()
	}
	if err := d.longEnough(); err != nil {
		return err
	}
	if len(d.live) == 0 {
		best, ok := d.choose()
		if !ok {
			return d.noSlot()
		}
		d.chooseFirst(best)
	}
	d.addFurther()
	if len(d.live) > 0 && len(d.chosen) > 0 {
		d.chosen[0].main = true
		d.takeRequests(d.chosen)
	}
	return nil
}

// chooseFirst makes a candidate the first choice.
func (d *decision) chooseFirst(c Candidate) {
	c.main = true
	d.takeRequests([]Candidate{c})
}

// decideBlind decides for tasks without a profile.
func (d *decision) decideBlind() error {
	present := len(d.live) > 0
	if present && !d.belowScout() {
		d.scout = d.scoutTasksOn(d.live)
		return nil // the present allocations go on; the job is planned again once some tasks are measured
	}
	best, ok := d.withoutProfile()
	if present && (!ok || best.Wait > 0) { // a scout that waits measures nothing that the present allocations do not measure before
		d.scout = d.scoutTasksOn(d.live)
		return nil
	}
	if !ok {
		return d.noSlot()
	}
	d.chooseFirst(best)
	return nil
}

// findOffers sets the offers where the job could run.
func (d *decision) findOffers() error {
	if err := d.q.checkLicences(); err != nil {
		return err
	}
	parts, why, err := partitions(d.q)
	if err != nil {
		return err
	}
	if why != "" {
		d.addNote(why)
	}
	d.among, d.leftOut = partitionsAmong(d.q.Spec.Request.Partition, parts), slices.Clone(d.q.LeftOut)
	var first error
	for _, part := range parts {
		offers, err := d.offersOf(part)
		if err != nil {
			d.leaveOut(part, what(err))
			first = cmp.Or(first, err)
			continue
		}
		d.offers = append(d.offers, offers...)
	}
	if len(d.offers) == 0 {
		return first
	}
	if d.kinds.leastNode().GPUs == 0 {
		d.leave(func(o *offer) string {
			if slices.ContainsFunc(o.part.Nodes, func(i int) bool { return d.q.Snap.Nodes[i].Capacity.GPUs == 0 }) {
				return ""
			}
			return "all of its nodes have GPUs, which no task needs"
		})
	}
	return nil
}

// what returns what was wrong by an error, without where and what to do.
func what(err error) string {
	var e *job.Error
	if errors.As(err, &e) {
		return e.What
	}
	return err.Error()
}

// leaveOut notes once why a partition is not compared with the others.
func (d *decision) leaveOut(p *cluster.Partition, why string) {
	if !slices.ContainsFunc(d.leftOut, func(x cluster.LeftOut) bool { return x.Partition == p.Name }) {
		d.leftOut = append(d.leftOut, cluster.LeftOut{Partition: p.Name, Why: why})
	}
}

// leave leaves out the offers of which a function says why, unless that are all of them, where the user asked for any partition.
func (d *decision) leave(why func(o *offer) string) {
	if !d.req.Anywhere || !slices.ContainsFunc(d.offers, func(o *offer) bool { return why(o) == "" }) {
		return
	}
	d.offers = slices.DeleteFunc(d.offers, func(o *offer) bool {
		reason := why(o)
		if reason != "" {
			d.leaveOut(o.part, reason)
		}
		return reason != ""
	})
}

// longEnough leaves out the offers whose allocations may not last as long as half of the tasks take, and returns an error where that are all
// of them. Where only the longest tasks do not fit it leaves a note, and tasks are started as long as the median fits.
func (d *decision) longEnough() error {
	maps, reduces := d.known.inv.Map.Quantile(0.5), 0.0
	if d.load.Maps == 0 {
		maps = 0
	}
	if d.load.Reduces > 0 && !d.known.guessed {
		reduces = d.known.inv.OtherShuffle.Quantile(0.5) + d.known.inv.Reduce.Quantile(0.5)
	}
	median := max(maps, reduces)
	short := func(o *offer) string {
		if median <= o.maxTime-o.startUp {
			return ""
		}
		return fmt.Sprintf("it allows %s, but half of the tasks take more than %s (%s)", duration(o.maxTime), duration(median), d.known.source)
	}
	d.leave(short)
	most := slices.MaxFunc(d.offers, func(x, y *offer) int { return cmp.Compare(x.maxTime, y.maxTime) })
	limit := most.maxTime - most.startUp
	if why := short(most); why != "" {
		return job.ConfigError(most.timeBy, why, "raise the limit, or use another partition")
	}
	if longest := max(d.expect.Map, d.expect.Reduce); longest > limit {
		d.addNote(fmt.Sprintf("%s allows %s, but one of twenty tasks takes more than %s: such tasks may never finish there",
			most.timeBy, duration(most.maxTime), duration(longest)))
		if d.expect.Map > limit {
			d.expect.Map = maps
		}
		if d.expect.Reduce > limit {
			d.expect.Reduce, d.expect.Sort = reduces, min(d.expect.Sort, reduces)
		}
		d.trials.Expect(d.expect)
	}
	return nil
}

// withoutPresent returns the question without the present allocations, if none of them can start tasks that wait and the decision requests
// nothing, or a plan before it was of no use. It returns false also where the user allows no nodes beside theirs.
func (d *decision) withoutPresent() (Question, bool) {
	r := d.q.Remaining
	if len(d.live) == 0 || d.starts() || len(d.chosen) > 0 && (r == nil || !r.Anew) {
		return Question{}, false
	}
	q, spec := *d.q, *d.q.Spec
	if most := &spec.Request.MaxNodes; *most > 0 {
		if *most -= d.liveNodes(); *most < max(1, spec.Request.MinNodes, d.mix.nodesOf(d.offers[0].perNode)) {
			return Question{}, false
		}
	}
	if q.Spec, q.Idle, q.ahead = &spec, nil, nil; r != nil {
		rest := *r
		rest.Live, q.Remaining = nil, &rest
	}
	return q, true
}

// starts reports whether the present allocations and requests can start the tasks that wait: as the engine says, or of a job that has not
// begun, whether one of them is large enough.
func (d *decision) starts() bool {
	r, holds := d.q.Remaining, slices.ContainsFunc(d.live, func(w predict.Window) bool { return w.TaskSlots > 0 })
	switch {
	case len(d.q.ahead) > 0: // requests of this plan
		return true
	case r == nil || !holds && d.mix.hasGangs():
		return holds
	}
	for i, n := range r.Needs {
		if n.Unserved && (d.q.mix == nil || slices.ContainsFunc(d.mix, func(k kind) bool { return k.index == i })) {
			return false
		}
	}
	return true
}

// noSlot decides where no free slot is feasible: the request is made nevertheless, because the queue may change,
// unless the batch system has refused such requests.
func (d *decision) noSlot() error {
	for _, c := range d.q.Checks {
		if c.Refused != "" {
			return job.ConfigError(d.q.Snap.Driver, "every feasible request was refused: "+c.Refused, "check what you add to requests, and the limits of the partition and of the account")
		}
	}
	if !math.IsInf(d.within(), 1) {
		return d.startsLate()
	}
	o := d.offers[0]
	c := d.candidate(o, timeline.Slot{Start: timeline.Never, Nodes: o.capNodes, Duration: timeline.Unbounded}, o.capNodes)
	switch c.wall = o.maxWall; {
	case d.req.WallTime == job.WallMax:
	case d.known.ok:
		c.wall = min(max(d.safeWallTime(o, o.capNodes, c.wall), o.minTime), c.wall)
	default:
		c.wall = min(c.wall, max(blindTime, o.minTime))
	}
	d.chooseFirst(c)
	d.addNote("the queue shows no free slot that is large and long enough: the job waits until the queue changes")
	return nil
}

// reduceSlots returns how many reduces run at once on all chosen allocations.
func (d *decision) reduceSlots() int {
	n := 0
	for _, c := range d.chosen {
		n += c.offer.reduceSlots.onNodes(c.Take)
	}
	return n
}
