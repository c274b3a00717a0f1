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
	p := Plan{
		At: q.Now, App: predict.Application(q.Spec), Kind: q.Spec.Kind, Tasks: q.Counts.Tasks, InputBytes: q.Counts.InputBytes,
		Reasons: []string{}, Notes: []string{},
	}
	l, err := Share(q.Snap, q.Spec)
	if err != nil {
		return Plan{}, err
	}
	p.TaskSlots, p.ReduceSlots = l.TaskSlots, l.ReduceSlots
	why := p.reduces(q.Spec, near(q.Profile, p.size()))
	open := why != ""
	for {
		d := decision{q: q, a: newAdaptor(q)}
		if err := d.decide(p.Reduces); err != nil {
			return Plan{}, err
		}
		// More reduces than run at once gain nothing: all of them start with the same
		// shuffle. What can run at once is known only now.
		if slots := d.reduceSlots(); open && d.a.known.ok && slots > 0 && p.Reduces > slots {
			p.Reduces, open = slots, false
			why = fmt.Sprintf("%s: one for each that can run at once", count(slots, "reduce"))
			continue
		}
		d.fill(&p)
		if why != "" {
			p.Reasons = append(p.Reasons, why)
		}
		return p, nil
	}
}

// decision is what an adaptor decided.
type decision struct {
	q       *Question
	a       *adaptor
	offers  []*offer
	weighed []Candidate
	chosen  []Candidate // what is asked for, the earliest first; none: what is there does
	first   Candidate   // the one of these that was chosen first
	scout   int
	runs    predict.Outcome // with all that was chosen; empty: nothing is known
}

// decide weighs what the queue offers.
func (d *decision) decide(reduces int) error {
	a := d.a
	a.learn(reduces)
	if err := d.find(); err != nil {
		return err
	}
	for _, p := range d.offers {
		a.look(p)
	}
	if a.load.Maps+a.load.Reduces == 0 {
		return nil
	}
	a.live = a.liveWindows(d.offers[0])
	if !a.known.ok {
		return d.decideBlind()
	}
	if err := d.longEnough(); err != nil {
		return err
	}
	if len(a.live) == 0 {
		best, weighed, ok := a.choose(d.offers)
		d.weighed = weighed
		if !ok {
			return d.hopeless()
		}
		d.take(best)
	}
	d.chosen, d.runs = a.more(d.chosen, d.offers)
	if len(a.live) > 0 && len(d.chosen) > 0 {
		d.chosen[0].main = true
		d.first = d.chosen[0]
	}
	return nil
}

// take chooses a candidate as the first.
func (d *decision) take(c Candidate) {
	c.main = true
	d.first, d.chosen = c, []Candidate{c}
}

// decideBlind decides for tasks of which nothing is known.
func (d *decision) decideBlind() error {
	if len(d.a.live) > 0 {
		d.scout = d.a.soundBy(d.a.live)
		return nil // what is there goes on; once something is known of the tasks there will be another plan
	}
	best, weighed, scout, ok := d.a.blind(d.offers)
	d.weighed = weighed
	if !ok {
		return d.hopeless()
	}
	d.scout = scout
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
		d.a.note(why)
	}
	d.a.among = among(d.q.Spec.Request.Partition, parts)
	var first error
	for _, part := range parts {
		offers, err := d.a.offersOf(part)
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
	a := d.a
	most := slices.MaxFunc(d.offers, func(x, y *offer) int { return cmp.Compare(x.maxTime, y.maxTime) })
	limit := most.maxTime - most.startUp
	if math.IsInf(limit, 1) {
		return nil
	}
	maps, reduces := a.known.inv.Map.Quantile(0.5), 0.0
	if a.load.Maps == 0 {
		maps = 0
	}
	if a.load.Reduces > 0 && !a.known.guessed {
		reduces = a.known.inv.OtherShuffle.Quantile(0.5) + a.known.inv.Reduce.Quantile(0.5)
	}
	if median := max(maps, reduces); median > limit {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: most.timeBy,
			What: fmt.Sprintf("it allows %s, but half of the tasks take more than %s (%s)", duration(most.maxTime), duration(median), a.known.source),
			Do:   "allow more, or use another partition"}
	}
	if longest := max(a.expect.Map, a.expect.Reduce); longest > limit {
		a.note(fmt.Sprintf("%s allows %s, but one of twenty tasks takes more than %s: such tasks may never be done there",
			most.timeBy, duration(most.maxTime), duration(longest)))
		if a.expect.Map > limit {
			a.expect.Map = maps
		}
		if a.expect.Reduce > limit {
			a.expect.Reduce, a.expect.Sort = reduces, min(a.expect.Sort, reduces)
		}
		a.trials.Expect(a.expect)
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
	c := d.a.candidate(o, timeline.Slot{Start: timeline.Never, Nodes: o.capNodes, Duration: timeline.Unbounded}, o.capNodes)
	switch c.wall = o.maxWall; {
	case d.a.req.WallTime == job.WallMax:
	case d.a.known.ok:
		c.wall = d.a.safe(o, o.capNodes, c.wall)
	default:
		c.wall = min(c.wall, blindTime)
	}
	d.take(c)
	d.a.note("no free slot that would do is in sight: the job waits until the queue changes")
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
