package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
)

// decideBatch plans a job on a batch system.
func decideBatch(q *Question) (Plan, error) {
	l, err := Share(q.Snap, q.Spec)
	if err != nil {
		return Plan{}, err
	}
	p, why := q.begin(&l)
	open := why != ""
	for {
		d := decision{adaptor: newAdaptor(q)}
		if err := d.decide(p.Reduces); err != nil {
			return Plan{}, err
		}
		// More reduces than run at once gain nothing: all of them start with the same
		// shuffle. What can run at once is known only now.
		if slots := d.reduceSlots(); open && d.known.ok && slots > 0 && p.Reduces > slots {
			p.Reduces, open = slots, false
			why = fmt.Sprintf("%s: one for each that can run at once", count(slots, "reduce"))
			continue
		}
		if d.req.EnergyWeight > 0 && d.idleCost() == 0 {
			d.note("--energy-weight decides nothing, as the idle power of a node is not known: --node-power or BERTH_NODE_POWER says it")
		}
		d.fill(&p)
		if why != "" {
			p.Reasons = append(p.Reasons, why)
		}
		return p, nil
	}
}

// decision is what an adaptor decides.
type decision struct {
	*adaptor
	offers  []*offer
	weighed []Candidate
	chosen  []Candidate      // what is asked for, in the end the earliest first; none: what is there does
	windows []predict.Window // what all allocations are to the job: those there, then those chosen
	first   Candidate        // the one of the chosen that was chosen first
	scout   int
	runs    predict.Outcome // with all that was chosen; empty: nothing is known
}

// decide weighs what the queue offers.
func (d *decision) decide(reduces int) error {
	d.learn(reduces)
	if err := d.find(); err != nil {
		return err
	}
	for _, o := range d.offers {
		d.look(o)
	}
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
			return d.hopeless()
		}
		d.take(best)
	}
	d.more()
	if len(d.live) > 0 && len(d.chosen) > 0 {
		d.chosen[0].main = true
		d.first = d.chosen[0]
	}
	return nil
}

// take chooses a candidate as the first.
func (d *decision) take(c Candidate) {
	c.main = true
	d.first = c
	d.add(c)
}

// add chooses a candidate.
func (d *decision) add(c Candidate) {
	d.chosen = append(d.chosen, c)
	d.windows = append(d.windows, c.window())
}

// decideBlind decides for tasks of which nothing is known.
func (d *decision) decideBlind() error {
	if len(d.live) > 0 {
		d.scout = d.soundBy(d.live)
		return nil // what is there goes on; once something is known of the tasks there will be another plan
	}
	best, ok := d.blind()
	if !ok {
		return d.hopeless()
	}
	d.take(best)
	return nil
}

// find finds the offers where the job could run.
func (d *decision) find() error {
	parts, why, err := partitions(d.q)
	if err != nil {
		return err
	}
	if why != "" {
		d.note(why)
	}
	d.among = among(d.q.Spec.Request.Partition, parts)
	var first error
	for _, part := range parts {
		offers, err := d.offersOf(part)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		d.offers = append(d.offers, offers...)
	}
	if len(d.offers) == 0 {
		return first
	}
	return nil
}

// longEnough returns an error where no allocation may last as long as half of the tasks
// take. Where it is only the longest of them it leaves a note, and tasks are begun as
// long as the median fits.
func (d *decision) longEnough() error {
	most := slices.MaxFunc(d.offers, func(x, y *offer) int { return cmp.Compare(x.maxTime, y.maxTime) })
	limit := most.maxTime - most.startUp
	if math.IsInf(limit, 1) {
		return nil
	}
	maps, reduces := d.known.inv.Map.Quantile(0.5), 0.0
	if d.load.Maps == 0 {
		maps = 0
	}
	if d.load.Reduces > 0 && !d.known.guessed {
		reduces = d.known.inv.OtherShuffle.Quantile(0.5) + d.known.inv.Reduce.Quantile(0.5)
	}
	if median := max(maps, reduces); median > limit {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: most.timeBy,
			What: fmt.Sprintf("it allows %s, but half of the tasks take more than %s (%s)", duration(most.maxTime), duration(median), d.known.source),
			Do:   "allow more, or use another partition"}
	}
	if longest := max(d.expect.Map, d.expect.Reduce); longest > limit {
		d.note(fmt.Sprintf("%s allows %s, but one of twenty tasks takes more than %s: such tasks may never be done there",
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

// hopeless decides where no free slot will do: the request is made in the hope that the
// queue changes, unless the batch system has refused all.
func (d *decision) hopeless() error {
	for _, c := range d.q.Checks {
		if c.Refused != "" {
			return &job.Error{Class: job.User, Code: job.CodeConfig, Where: d.q.Snap.Driver,
				What: "every request that might do is refused: " + c.Refused, Do: "see the limits of the partition and of the account"}
		}
	}
	o := d.offers[0]
	c := d.candidate(o, timeline.Slot{Start: timeline.Never, Nodes: o.capNodes, Duration: timeline.Unbounded}, o.capNodes)
	switch c.wall = o.maxWall; {
	case d.req.WallTime == job.WallMax:
	case d.known.ok:
		c.wall = d.safe(o, o.capNodes, c.wall)
	default:
		c.wall = min(c.wall, blindTime)
	}
	d.take(c)
	d.note("no free slot that would do is in sight: the job waits until the queue changes")
	return nil
}

// reduceSlots returns how many reduces run at once on all that was chosen.
func (d *decision) reduceSlots() int {
	n := 0
	for _, c := range d.chosen {
		n += c.Take * c.offer.reduceSlots
	}
	return n
}
