package plan

import (
	"fmt"
	"math"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// fillPlan writes the decision into the plan.
func (d *decision) fillPlan(p *Plan) {
	p.Tasks, p.Reduces = d.size.Tasks, d.size.Reduces
	if p.setLeft(d.q.Remaining); d.q.mix != nil {
		p.Left = &Left{Tasks: d.load.Maps}
		if len(d.runs.Finish) > 0 {
			p.ends = d.runs.Mean()
		}
	}
	p.Source, p.Scout = d.known.source, d.scout
	var requests []job.AllocRequest
	for i := range d.chosen {
		requests = append(requests, d.request(&d.chosen[i]))
	}
	for _, l := range d.q.Idle {
		p.Idle = append(p.Idle, l.ID)
	}
	if requests == nil { // names the allocations that serve the job
		requests = append(requests, d.request(&Candidate{offer: d.offers[0], PerNode: d.offers[0].perNode, wall: math.Inf(1), Wait: math.Inf(1)}))
	}
	p.Alloc, p.More = requests[0], append(p.More, requests[1:]...)
	p.TaskSlots, p.ReduceSlots = d.atOnce()
	if d.known.ok {
		p.TaskTime, p.ReduceTime = asDuration(d.expect.Map), asDuration(d.expect.Sort)
		p.setMeans(d.known.inv)
	}
	if !d.q.Brief {
		d.report(p)
	}
	p.Reasons = append(p.Reasons, d.headline(p))
	if p.Alloc.Batch.Licences != "" {
		p.Reasons = append(p.Reasons, d.licencesReason(p.Alloc))
	}
	for i := range d.chosen {
		if c := &d.chosen[i]; !c.main {
			p.Reasons = append(p.Reasons, "and "+d.requested(c)+", because the job ends sooner with it")
		}
	}
	if c := &d.first; len(d.chosen) > 0 {
		tasks := min(c.offer.taskSlots.onNodes(c.Take), d.load.Maps, d.throttle)
		p.Reasons = append(p.Reasons, d.mix.gangsAtOnce(tasks, c.Take, c.Take*c.PerNode.CPUs)...)
	}
	if at := d.beside(); len(d.chosen) > 0 && at < d.chosen[0].Wait {
		p.Reasons = append(p.Reasons, "tasks start before on nodes that you hold, in about "+duration(at))
	}
	for i := range d.chosen {
		if part := d.chosen[i].offer.part; d.req.Anywhere && part.Preempted != "" {
			d.addNote("partition " + part.Name + ": " + part.Preempted + "; tasks that run there then start again")
		}
	}
	if len(d.chosen) > 0 {
		l := d.layout(&d.first)
		for _, note := range l.notes {
			d.addNote(note)
		}
		if p.Kind == job.MapReduce {
			p.Reasons = append(p.Reasons, sortReason(l, d.req))
		}
	}
	p.Notes = append(append(p.Notes, d.notes...), d.heldJobs()...)
}

// report adds to the plan what only its reader needs: the prediction and the outlook.
func (d *decision) report(p *Plan) {
	if d.known.ok {
		d.predict(p)
	}
	p.Outlook, p.Start = d.outlook(), d.predictedStart()
	if at := micros(d.beside()); at < p.Outlook.Wait {
		p.Outlook.Wait, p.Start = at, nil
	}
}

// atOnce returns the largest numbers of bag tasks or maps, and of reduces, that run at the same time.
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
	return min(tasks, d.throttle), reduces
}

// begins returns when the first task can start, in seconds from now: when the workers of an allocation are ready. It
// is +Inf where that is unknown.
func (d *decision) begins() float64 {
	start := math.Inf(1)
	for _, w := range d.windows {
		start = min(start, w.Start)
	}
	return min(start, d.beside())
}

// beside returns when the first task can start on an allocation that has work of other jobs of the user, +Inf if on none.
func (d *decision) beside() float64 {
	start := math.Inf(1)
	for _, l := range d.q.Beside {
		at := max(0, d.seconds(l.Next))
		if tasks, _ := d.slotsOf(l.Request.PerNode, l.Request.Nodes); tasks > 0 && (l.Ends == 0 || at+d.expect.Map < d.seconds(l.Ends)) {
			start = min(start, at)
		}
	}
	return start
}

// predict simulates the chosen allocations with a larger sample and sets the prediction.
func (d *decision) predict(p *Plan) {
	start := d.begins()
	if d.load.Maps+d.load.Reduces == 0 || math.IsInf(start, 1) {
		return
	}
	after := d.offers[0]
	if len(d.chosen) > 0 {
		after = d.first.offer
	}
	windows, _ := d.withFollowing(after, d.windows)
	d.withFineSample(func() { d.runs, _, _ = d.simulate(windows, d.aloneRuns(d.chosen), noLimit) })
	d.inARow(start)
	low, median, p95 := d.runs.Quantile(0.05)-start, d.runs.Quantile(0.5)-start, d.runs.Quantile(0.95)-start
	p.Predicted = &Prediction{Interval: roundInterval(predict.Interval{Low: low, Up: p95}), Median: micros(median), P95: micros(p95), Stages: []Stage{}}
	if mean := d.runs.Mean() - start; !math.IsInf(mean, 1) { // the mean may lie outside where a few of the runs need another allocation
		p.Predicted.widen(roundInterval(predict.Interval{Low: mean, Up: mean}))
	}
	if len(d.chosen) != 1 || len(d.live) > 0 || d.first.Risk > 0 {
		return // eq. 1 holds for one allocation that lasts until the job is done
	}
	e := predict.Bounds(d.known.inv, d.jobShape(&d.first)).Spread(d.known.runs)
	p.Predicted.widen(roundInterval(e.Total()))
	p.Predicted.Stages = p.stages(e)
}

// inARow makes the simulated runs at least as long as the tasks take that come one after the other.
func (d *decision) inARow(start float64) {
	n := d.q.Counts.Path
	if r := d.q.Remaining; r != nil {
		n = r.Path
	}
	if n <= 1 {
		return
	}
	m, runs := d.known.inv.Map, float64(len(d.runs.Finish))
	for i := range d.runs.Finish { // the spread of a sum grows with the root of its terms
		one := m.Quantile((float64(i) + 0.5) / runs)
		if one == 0 {
			one = m.Avg
		}
		d.runs.Finish[i] = max(d.runs.Finish[i], start+float64(n)*m.Avg+(one-m.Avg)*math.Sqrt(float64(n)))
	}
}

// headline returns the decision in one line.
func (d *decision) headline(p *Plan) string {
	var what string
	switch {
	case d.load.Maps+d.load.Reduces == 0:
		return nothingLeft(d.q.Spec)
	case len(d.chosen) == 0 && d.q.Remaining == nil:
		what = "runs at once on nodes that you hold"
	case len(d.chosen) == 0 && !d.known.ok:
		what = "no further allocation is requested until some tasks are measured"
	case len(d.chosen) == 0:
		what = "no further allocation is requested"
	default:
		what = d.requested(&d.first)
	}
	if d.scout > 0 {
		return fmt.Sprintf("%s: %s of %s are measured first, then the rest is planned; no prediction (%s)",
			what, job.FormatCount(d.scout), job.Count(p.plannedPart().Tasks, taskNoun(p.Kind)), p.Source)
	}
	return what + ": " + p.summary()
}

// requested describes a request in words.
func (d *decision) requested(c *Candidate) string {
	when := "starting at once"
	switch {
	case math.IsInf(c.Wait, 1):
		when = "start unknown"
	case c.Wait > 0:
		when = "starting in about " + duration(c.Wait)
	}
	return fmt.Sprintf("%s × %s %s in %s, %s", job.Count(c.Take, "node"), c.PerNode.Cores(), wallText(c.wall), c.offer.part.Name, when)
}

// heldJobs returns a note on the user's own jobs that cannot start without an action of somebody.
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
	return []string{fmt.Sprintf("some of your queued jobs cannot start by themselves: %s%s", strings.Join(names, ", "), more)}
}
