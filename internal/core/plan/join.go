package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// joinParts returns the plan of all parts.
func (d *planner) joinParts() Plan {
	last := d.last()
	p := d.plans[last]
	p.Tasks, p.Left, p.ends = d.q.Counts.Tasks, nil, 0
	p.setLeft(d.q.Remaining)
	d.requests(&p)
	d.times(&p)
	if len(d.parts) > 1 {
		d.predict(&p)
	}
	d.texts(&p)
	return p
}

// last returns the part that is done last; the last one where that is unknown.
func (d *planner) last() int {
	last := len(d.plans) - 1
	for i := range d.plans {
		if d.plans[i].ends > d.plans[last].ends {
			last = i
		}
	}
	return last
}

// requests sets the requests, the earliest start first, and what each serves.
func (d *planner) requests(p *Plan) {
	type made struct {
		job.AllocRequest
		part int
	}
	var all []made
	var parts []*cluster.Partition
	for i := range d.plans {
		for _, r := range d.plans[i].Requests() {
			all = append(all, made{r, i})
		}
		for _, h := range d.parts[i].homes {
			if !slices.Contains(parts, h) {
				parts = append(parts, h)
			}
		}
	}
	start := func(m made) job.Time { return cmp.Or(m.Start, timeline.Never) }
	slices.SortStableFunc(all, func(x, y made) int { return cmp.Compare(start(x), start(y)) })
	slices.SortFunc(parts, func(x, y *cluster.Partition) int { return cmp.Compare(d.place(x), d.place(y)) })
	among, mix := partitionsAmong(d.q.Spec.Request.Partition, parts), d.mix()
	p.More, p.Serves = nil, nil
	p.Alloc.Batch.Among = among
	for i, m := range all {
		m.Batch.Among = among
		if i == 0 {
			p.Alloc = m.AllocRequest
		} else {
			p.More = append(p.More, m.AllocRequest)
		}
		p.Serves = append(p.Serves, mix.places(d.parts[m.part].mix))
	}
	if all == nil {
		p.Alloc.Nodes = 0
	}
}

// place returns the position of a partition in the queue.
func (d *planner) place(p *cluster.Partition) int {
	return slices.IndexFunc(d.q.Snap.Queue.Partitions, func(x cluster.Partition) bool { return x.Name == p.Name })
}

// mix returns the tasks of all parts, in the order of their needs' indices.
func (d *planner) mix() (all taskMix) {
	for _, p := range d.parts {
		all = append(all, p.mix...)
	}
	slices.SortFunc(all, func(x, y kind) int { return cmp.Compare(x.index, y.index) })
	return all
}

// places returns the positions of the kinds of another mix.
func (m taskMix) places(of taskMix) (at []int) {
	for i, k := range m {
		if slices.ContainsFunc(of, func(o kind) bool { return o.index == k.index }) {
			at = append(at, i)
		}
	}
	return at
}

// times sets the expected times of tasks, the slots, and when the rest is planned again: once a part's scout is done.
func (d *planner) times(p *Plan) {
	p.Scout, p.Idle, p.TaskSlots, p.TaskTime, p.TaskMean = 0, nil, 0, 0, 0
	mean, known := 0.0, 0
	for i := range d.plans {
		x := &d.plans[i]
		if x.Scout > 0 && (p.Scout == 0 || x.Scout < p.Scout) {
			p.Scout = x.Scout
		}
		for _, id := range x.Idle {
			if !slices.Contains(p.Idle, id) {
				p.Idle = append(p.Idle, id)
			}
		}
		p.TaskSlots += x.TaskSlots
		p.TaskTime = max(p.TaskTime, x.TaskTime)
		if x.TaskMean > 0 {
			n := d.parts[i].mix.count()
			mean, known = mean+x.TaskMean.Seconds()*float64(n), known+n
		}
	}
	if known > 0 {
		p.TaskMean = wholeMillis(mean / float64(known))
	}
	p.TaskSlots = throttled(d.q.Spec, p.TaskSlots)
}

// predict sets the prediction: the job is done when its last part is.
func (d *planner) predict(p *Plan) {
	for i := range d.plans {
		if x := &d.plans[i]; x.Predicted == nil || x.Outlook == nil {
			p.Predicted, p.Source = nil, x.Source
			d.expect(p)
			return
		}
	}
	d.expect(p)
	var all Prediction
	for i := range d.plans {
		x := &d.plans[i]
		late := x.Outlook.Start - p.Outlook.Start
		all.Low, all.Up = max(all.Low, x.Predicted.Low+late), max(all.Up, x.Predicted.Up+late)
		all.Median, all.P95 = max(all.Median, x.Predicted.Median+late), max(all.P95, x.Predicted.P95+late)
	}
	all.Interval, all.Median, all.P95, all.Stages = roundInterval(all.Interval), micros(all.Median), micros(all.P95), []Stage{}
	p.Predicted = &all
}

// expect sets the predicted course of the job in the outlook.
func (d *planner) expect(p *Plan) {
	if p.Outlook == nil {
		return
	}
	o := *p.Outlook
	for i := range d.plans {
		if x := d.plans[i].Outlook; x != nil {
			if x.Wait < o.Wait {
				p.Start = d.plans[i].Start
			}
			o.Wait, o.Start = min(o.Wait, x.Wait), min(o.Start, x.Start)
		}
	}
	for i := range d.plans {
		if x := d.plans[i].Outlook; x == nil || x.Turnaround == 0 {
			o.Turnaround = 0
		}
	}
	p.Outlook = &o
}

// texts sets the reasons and the notes.
func (d *planner) texts(p *Plan) {
	p.Reasons, p.Notes = nil, []string{}
	for i := range d.plans {
		for _, note := range d.plans[i].Notes {
			if !slices.Contains(p.Notes, note) {
				p.Notes = append(p.Notes, note)
			}
		}
	}
	mix := d.mix()
	if len(d.parts) == 1 {
		p.Reasons = d.plans[0].Reasons
	} else {
		p.Reasons = append(p.Reasons, d.headline(p))
		for i := range d.plans {
			r := d.plans[i].Reasons
			p.Reasons = append(append(p.Reasons, "for "+d.parts[i].mix.text(3)+": "+strings.TrimSuffix(r[0], " ("+d.plans[i].Source+")")), r[1:]...)
		}
	}
	p.setMix(mix)
}

// setMix sets the tasks of a mix by their needs.
func (p *Plan) setMix(mix taskMix) {
	p.Mix = nil
	if len(mix) < 2 {
		p.Serves = nil
		return
	}
	for _, k := range mix {
		p.Mix = append(p.Mix, Mixed{Tasks: k.tasks, Needs: k.needs})
	}
	if mix.differs() {
		p.Reasons = append(p.Reasons, "tasks: "+mix.text(mostNeeds))
	}
}

// headline returns the decision on several parts in one line.
func (d *planner) headline(p *Plan) string {
	var parts []string
	for _, r := range p.Requests() {
		parts = append(parts, fmt.Sprintf("%s × %s in %s", job.Count(r.Nodes, "node"), r.PerNode.Cores(), r.Batch.Partition))
	}
	what := "no further allocation is requested"
	if parts != nil {
		what = strings.Join(parts, " and ")
	}
	return what + ": " + p.summary()
}
