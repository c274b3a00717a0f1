package plan

import (
	"fmt"
	"math"
	"strings"

	"berth/internal/job"
	"berth/internal/predict"
)

// fill puts what was decided into the plan.
func (d *decision) fill(p *Plan) {
	p.Tasks, p.Reduces = d.size.Tasks, d.size.Reduces
	p.setLeft(d.q.Rest)
	p.Source, p.Scout = d.known.source, d.scout
	for i := range d.chosen {
		r := d.request(&d.chosen[i])
		if i == 0 {
			p.Alloc = r
		} else {
			p.More = append(p.More, r)
		}
	}
	if len(d.chosen) == 0 { // whose allocations serve it
		p.Alloc = d.request(&Candidate{offer: d.offers[0], PerNode: d.offers[0].perNode, wall: math.Inf(1), Wait: math.Inf(1)})
	}
	p.TaskSlots, p.ReduceSlots = d.atOnce()
	if d.known.ok {
		p.TaskTime, p.ReduceTime = asDuration(d.expect.Map), asDuration(d.expect.Sort)
		p.means(d.known.inv)
	}
	if !d.q.Brief {
		d.told(p)
	}
	p.Reasons = append(p.Reasons, d.headline(p))
	for i := range d.chosen {
		if c := &d.chosen[i]; !c.main {
			p.Reasons = append(p.Reasons, "and "+d.asked(c)+", as that ends it sooner")
		}
	}
	if len(d.chosen) > 0 {
		l := d.layout(&d.first)
		for _, note := range l.notes {
			d.note(note)
		}
		if p.Kind == job.MapReduce {
			p.Reasons = append(p.Reasons, sortReason(l, d.req))
		}
	}
	p.Notes = append(append(p.Notes, d.notes...), d.heldJobs()...)
}

// told puts into the plan what is told of it.
func (d *decision) told(p *Plan) {
	if d.known.ok {
		d.predict(p)
	}
	p.Outlook = d.outlook()
}

// atOnce returns how many bag tasks or maps, and reduces, ever run at once.
func (d *decision) atOnce() (tasks, reduces int) {
	for i, at := range d.windows {
		t, r := 0, 0
		for k, w := range d.windows {
			if i == k || w.Start <= at.Start && at.Start < w.End {
				t, r = t+w.TaskSlots, r+w.ReduceSlots
			}
		}
		tasks, reduces = max(tasks, t), max(reduces, r)
	}
	if d.throttle > 0 {
		tasks = min(tasks, d.throttle)
	}
	return tasks, reduces
}

// begins returns when the first task can start, in seconds from now: the workers of an
// allocation are ready. It is infinite where that is not in sight.
func (d *decision) begins() float64 {
	start := math.Inf(1)
	for _, w := range d.windows {
		start = min(start, w.Start)
	}
	return start
}

// predict simulates what was chosen, more often than it was to be weighed.
func (d *decision) predict(p *Plan) {
	start := d.begins()
	if d.load.Maps+d.load.Reduces == 0 || math.IsInf(start, 1) {
		return
	}
	after := d.offers[0]
	if len(d.chosen) > 0 {
		after = d.first.offer
	}
	windows, _ := d.goingOn(after, d.windows)
	d.finely(func() { d.runs, _, _ = d.simulate(windows, d.only(d.chosen), noLimit) })
	low, median, p95 := d.runs.Quantile(0.05)-start, d.runs.Quantile(0.5)-start, d.runs.Quantile(0.95)-start
	p.Predicted = &Prediction{Interval: round(predict.Interval{Low: low, Up: p95}), Median: micros(median), P95: micros(p95), Stages: []Stage{}}
	if mean := d.runs.Mean() - start; !math.IsInf(mean, 1) { // beyond both where a few of the runs need another allocation
		p.Predicted.widen(round(predict.Interval{Low: mean, Up: mean}))
	}
	if len(d.chosen) != 1 || len(d.live) > 0 || d.first.Risk > 0 {
		return // eq. 1 is of one allocation that lasts
	}
	e := predict.Bounds(d.known.inv, d.shape(&d.first)).Spread(d.known.runs)
	p.Predicted.widen(round(e.Total()))
	p.Predicted.Stages = p.stages(e)
}

// headline says all of the decision in one line.
func (d *decision) headline(p *Plan) string {
	var b strings.Builder
	switch {
	case d.load.Maps+d.load.Reduces == 0:
		return nothingLeft
	case len(d.chosen) == 0 && !d.known.ok:
		b.WriteString("nothing is asked for beside what is there until something is known of the tasks: ")
	case len(d.chosen) == 0:
		b.WriteString("nothing is asked for beside what is there: ")
	default:
		b.WriteString(d.asked(&d.first) + ": ")
	}
	if d.scout > 0 {
		fmt.Fprintf(&b, "%s of %s are measured first, then the rest is planned; no prediction (%s)",
			job.FormatCount(d.scout), count(p.left().Tasks, taskNoun(p.Kind)), p.Source)
		return b.String()
	}
	b.WriteString(p.amount())
	turnaround := p.Turnaround()
	if turnaround == nil {
		fmt.Fprintf(&b, "; no prediction (%s)", p.Source)
		return b.String()
	}
	fmt.Fprintf(&b, "; predicted turnaround %s (%s)", span(*turnaround), p.Source)
	return b.String()
}

// asked says what is asked for.
func (d *decision) asked(c *Candidate) string {
	when := "starting at once"
	switch {
	case math.IsInf(c.Wait, 1):
		when = "start unknown"
	case c.Wait > 0:
		when = "starting in about " + duration(c.Wait)
	}
	return fmt.Sprintf("%s × %s %s in %s, %s", count(c.Take, "node"), count(c.PerNode.CPUs, "core"), wallText(c.wall), c.offer.name, when)
}

// heldJobs returns a note on jobs of the user that cannot start.
func (d *decision) heldJobs() []string {
	var names []string
	for _, j := range d.q.Snap.Queue.Pending {
		if j.Held != "" && j.User == d.q.Snap.Queue.User {
			names = append(names, j.ID+" ("+j.Held+")")
		}
	}
	if len(names) == 0 {
		return nil
	}
	more := ""
	if n := len(names) - 3; n > 0 {
		names, more = names[:3], fmt.Sprintf(" and %s more", job.FormatCount(n))
	}
	return []string{fmt.Sprintf("jobs of yours cannot start by themselves: %s%s", strings.Join(names, ", "), more)}
}
