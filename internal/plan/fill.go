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
	a := d.a
	p.Tasks, p.Reduces = a.size.Tasks, a.size.Reduces
	p.setLeft(a.q.Rest)
	p.Source, p.Scout = a.known.source, d.scout
	for i := range d.chosen {
		r := a.request(&d.chosen[i])
		if i == 0 {
			p.Alloc = r
		} else {
			p.More = append(p.More, r)
		}
	}
	if len(d.chosen) == 0 { // whose allocations serve it
		p.Alloc = a.request(&Candidate{offer: d.offers[0], PerNode: d.offers[0].perNode, wall: math.Inf(1), Wait: math.Inf(1)})
	}
	p.TaskSlots, p.ReduceSlots = d.atOnce()
	if a.known.ok {
		p.TaskTime, p.ReduceTime = asDuration(a.expect.Map), asDuration(a.expect.Sort)
		p.means(a.known.inv)
	}
	if !a.q.Brief {
		d.told(p)
	}
	p.Reasons = append(p.Reasons, d.headline(p))
	for i := range d.chosen {
		if c := &d.chosen[i]; !c.main {
			p.Reasons = append(p.Reasons, "and "+d.asked(c)+", as that ends it sooner")
		}
	}
	if len(d.chosen) > 0 {
		l := a.layout(&d.first)
		for _, note := range l.notes {
			a.note(note)
		}
		if p.Kind == job.MapReduce {
			p.Reasons = append(p.Reasons, sortReason(l, a.req))
		}
	}
	p.Notes = append(append(p.Notes, a.notes...), d.held()...)
}

// told puts into the plan what is told of it.
func (d *decision) told(p *Plan) {
	if d.a.known.ok {
		d.predict(p)
	}
	p.Outlook = d.outlook()
}

// atOnce returns how many bag tasks or maps, and reduces, ever run at once.
func (d *decision) atOnce() (tasks, reduces int) {
	windows := d.windows()
	for i, at := range windows {
		t, r := 0, 0
		for k, w := range windows {
			if i == k || w.Start <= at.Start && at.Start < w.End {
				t, r = t+w.TaskSlots, r+w.ReduceSlots
			}
		}
		tasks, reduces = max(tasks, t), max(reduces, r)
	}
	if d.a.throttle > 0 {
		tasks = min(tasks, d.a.throttle)
	}
	return tasks, reduces
}

// windows returns what all allocations are to the job: those there and those asked for.
func (d *decision) windows() []predict.Window {
	out := append([]predict.Window{}, d.a.live...)
	for _, c := range d.chosen {
		out = append(out, c.window())
	}
	return out
}

// begins returns when the first task can start, in seconds from now: the workers of an
// allocation are ready. It is infinite where that is not in sight.
func (d *decision) begins() float64 {
	start := math.Inf(1)
	for _, w := range d.windows() {
		start = min(start, w.Start)
	}
	return start
}

// predict simulates what was chosen, more often than it was to be weighed.
func (d *decision) predict(p *Plan) {
	a := d.a
	start := d.begins()
	if a.load.Maps+a.load.Reduces == 0 || math.IsInf(start, 1) {
		return
	}
	after := d.offers[0]
	if len(d.chosen) > 0 {
		after = d.first.offer
	}
	windows, _ := a.goingOn(after, d.windows())
	a.finely(func() { d.runs, _, _ = a.simulate(windows, a.only(d.chosen), noLimit) })
	low, median, p95 := d.runs.Quantile(0.05)-start, d.runs.Quantile(0.5)-start, d.runs.Quantile(0.95)-start
	p.Predicted = &Prediction{Interval: round(predict.Interval{Low: low, Up: p95}), Median: micros(median), P95: micros(p95), Stages: []Stage{}}
	if mean := d.runs.Mean() - start; !math.IsInf(mean, 1) { // beyond both where a few of the runs need another allocation
		p.Predicted.widen(round(predict.Interval{Low: mean, Up: mean}))
	}
	if len(d.chosen) != 1 || len(a.live) > 0 || d.first.Risk > 0 {
		return // eq. 1 is of one allocation that lasts
	}
	e := predict.Bounds(a.known.inv, a.shape(&d.first)).Spread(a.known.runs)
	p.Predicted.widen(round(e.Total()))
	p.Predicted.Stages = p.stages(e)
}

// headline says all of the decision in one line.
func (d *decision) headline(p *Plan) string {
	var b strings.Builder
	switch {
	case d.a.load.Maps+d.a.load.Reduces == 0:
		return nothingLeft
	case len(d.chosen) == 0 && !d.a.known.ok:
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

// held returns a note on jobs of the user that cannot start.
func (d *decision) held() []string {
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
