package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// planner plans a job part by part, as if each part were a job of its own. The queue of a part has the requests of the parts before it, and
// the part counts on what these leave of their nodes.
type planner struct {
	q      *Question
	snap   cluster.Snapshot
	rooms  []room
	parts  []part // that are planned …
	plans  []Plan // … and their plans
	after  int    // how many parts follow the next one
	budget int    // how many further requests may be made
}

// room is an allocation of the job that runs or was requested, with the resources of its nodes that are left for the next part.
type room struct {
	job.Live
	asked bool // by a plan of a part before
}

// decideParts plans the parts of a bag and returns the plan of all of them.
func decideParts(q *Question, parts []part) (Plan, error) {
	d := planner{q: q, snap: q.Snap, budget: newAdaptor(q).allocs()}
	if q.Spec.Request.MaxAllocs == 0 {
		d.budget += len(parts) - 1
	}
	for _, l := range q.live() {
		d.rooms = append(d.rooms, room{Live: l})
	}
	for i, p := range parts {
		d.after = len(parts) - 1 - i
		if err := d.planWell(p); err != nil {
			return Plan{}, err
		}
	}
	return d.join(), nil
}

// planWell plans the next part. Where it has to wait for nodes that hold all of its tasks, large and small ones get requests of their own if
// the part is done sooner so.
func (d *planner) planWell(p part) error {
	one := d.fork()
	if err := one.plan(p); err != nil {
		return err
	}
	made := &one.plans[len(d.plans)]
	large, small, ok := p.split()
	if ok && !d.q.Spec.Request.Exclusive && made.ends > 0 && made.Alloc.Nodes > 0 && made.Alloc.Start > d.q.Now && d.budget > 1+d.after {
		two := d.fork()
		two.after++
		if two.plan(large) == nil {
			two.after--
			if two.plan(small) == nil && two.ends(len(d.plans)) < made.ends*(1-gainBy) {
				one = two
			}
		}
	}
	*d = one
	return nil
}

// fork returns a copy with which a part can be planned on trial.
func (d *planner) fork() planner {
	c := *d
	c.rooms, c.parts, c.plans = slices.Clone(d.rooms), slices.Clone(d.parts), slices.Clone(d.plans)
	return c
}

// ends returns when the last of the parts from that one on is expected to be done, +Inf if that is unknown.
func (d *planner) ends(from int) (end float64) {
	for i := range d.plans[from:] {
		p := &d.plans[from+i]
		if p.ends == 0 {
			return math.Inf(1)
		}
		end = max(end, p.ends)
	}
	return end
}

// split returns the large and the small tasks of a part: the sizes of the smallest of the large ones and the largest of the small ones
// differ most. ok is false where all tasks need the same, or workers get whole nodes.
func (p *part) split() (large, small part, ok bool) {
	kinds := slices.Clone(p.mix)
	slices.SortStableFunc(kinds, func(x, y kind) int { return bySize(x.needs.Resources(), y.needs.Resources()) })
	at, most := 0, 1.0
	for i := 1; i < len(kinds); i++ {
		x, y := kinds[i-1].needs.Resources(), kinds[i].needs.Resources()
		if ratio := max(cpus(y)/max(1, cpus(x)), memory(y)/max(1<<20, memory(x))); ratio > most {
			at, most = i, ratio
		}
	}
	large, small = *p, *p
	large.mix, small.mix = kinds[at:], kinds[:at]
	whole := slices.ContainsFunc(p.homes, func(h *cluster.Partition) bool { return h.Whole })
	return large, small, at > 0 && !whole
}

// plan plans the next part.
func (d *planner) plan(p part) error {
	sub, seen, err := d.question(&p)
	if err != nil {
		return err
	}
	made, err := decideOne(&sub)
	if err != nil {
		return err
	}
	d.parts, d.plans = append(d.parts, p), append(d.plans, made)
	for _, r := range made.Requests() {
		d.budget--
		d.queue(r)
		seen = append(seen, len(d.rooms))
		d.rooms = append(d.rooms, room{Live: job.Live{Request: r, Start: r.Start}, asked: true})
	}
	nodes := 0
	for _, k := range seen {
		nodes += d.rooms[k].Request.Nodes
	}
	for _, k := range seen {
		size := &d.rooms[k].Request.PerNode
		*size = p.mix.leaves(*size, nodes)
	}
	return nil
}

// question returns the question by which a part is planned, and the rooms that it counts on.
func (d *planner) question(p *part) (sub Question, seen []int, err error) {
	sub = *d.q
	sub.Snap, sub.mix, sub.ahead = d.snap, p.mix, nil
	var live []job.Live
	held := 0 // nodes that other parts have
	for k, r := range d.rooms {
		serves := p.mix.fits(r.Request.PerNode)
		switch {
		case serves && !r.asked:
			seen, live = append(seen, k), append(live, r.Live)
			continue
		case serves && r.Start != 0 && (d.known() || r.Start <= d.q.Now):
			seen, sub.ahead = append(seen, k), append(sub.ahead, r.Live)
		}
		held += r.Request.Nodes
	}
	if sub.Idle = nil; d.q.Remaining == nil {
		sub.Idle = live
	} else {
		rest := *d.q.Remaining
		rest.Kept = time.Duration(float64(rest.Kept) * float64(p.mix.tasks()) / float64(max(1, rest.Tasks)))
		if rest.Tasks, rest.Live = p.mix.tasks(), live; rest.Needs != nil {
			rest.Span, rest.CutShort = p.mix.longest()
		}
		sub.Remaining = &rest
	}
	allowed := d.budget - d.after
	if !slices.ContainsFunc(live, func(l job.Live) bool { return newAdaptor(d.q).pending(&l) }) {
		allowed = max(1, allowed)
	}
	sub.allocs = &allowed
	elsewhere := func(c Check) bool {
		return !slices.ContainsFunc(p.homes, func(h *cluster.Partition) bool { return h.Name == c.Partition })
	}
	sub.Checks = slices.DeleteFunc(slices.Clone(d.q.Checks), func(c Check) bool {
		return c.PerNode.GPUs > 0 != p.gpus || c.Partition != "" && elsewhere(c)
	})
	spec, allow := d.spec(p), d.q.Spec.Request.MaxNodes
	if least := max(1, spec.Request.MinNodes); allow > 0 {
		if spec.Request.MaxNodes = allow - held - d.after*least; spec.Request.MaxNodes < least {
			if len(live) == 0 {
				return sub, nil, d.tooFew(held > 0 && d.after == 0)
			}
			spec.Request.MaxNodes, allowed = least, 0
		}
	}
	sub.Spec = spec
	return sub, seen, nil
}

// tooFew returns the error for fewer allowed nodes than parts need. If others have these nodes now, it passes.
func (d *planner) tooFew(passes bool) error {
	e := &job.Error{Class: job.User, Code: job.CodeConfig, Where: "--nodes", Do: "allow more nodes",
		What: fmt.Sprintf("at most %s allowed, but no node holds all of the tasks: %s", are(d.q.Spec.Request.MaxNodes, "node"), d.q.left().text(mostNeeds))}
	if passes && d.q.Remaining != nil {
		e.Class = job.Transient
	}
	return e
}

func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return job.Count(n, noun) + " are"
}

// known reports whether the durations of tasks are known.
func (d *planner) known() bool {
	return d.q.Profile != nil || d.q.Measured != nil && samples(d.q.Measured.Measures, job.Bag) > 0
}

// spec returns the spec of a part, as if it were a job.
func (d *planner) spec(p *part) *job.Spec {
	spec, bag := *d.q.Spec, *d.q.Spec.Bag
	bag.Need = p.mix.need()
	if bag.Throttle > 0 {
		all := max(1, d.q.left().tasks())
		bag.Throttle = max(1, (bag.Throttle*p.mix.tasks()+all-1)/all)
	}
	r := &spec.Request
	r.Partition = partitionList(p.homes)
	spec.Bag = &bag
	return &spec
}

// queue adds a request to the queue, as a job that waits with a planned start.
func (d *planner) queue(r job.AllocRequest) {
	if r.Start == 0 {
		return
	}
	queue := *d.snap.Queue
	part := slices.IndexFunc(queue.Partitions, func(p cluster.Partition) bool { return p.Name == r.Batch.Partition })
	queue.Pending = append(slices.Clip(queue.Pending), cluster.Queued{User: queue.User, Partition: r.Batch.Partition, Account: r.Batch.Account, QOS: r.Batch.QOS,
		Count: r.Nodes, PerNode: r.PerNode, Whole: r.Batch.Exclusive || part >= 0 && queue.Partitions[part].Whole, Start: r.Start, Limit: r.Time})
	d.snap.Queue = &queue
}

// leaves returns what the tasks leave of a node of that size while they run on so many such nodes.
func (m taskMix) leaves(size job.Resources, nodes int) job.Resources {
	shares := m.shares()
	running := min(float64(m.slots(size)), float64(m.tasks())/float64(max(1, nodes)))
	size.CPUs -= int(math.Ceil(running*m.mean(cpus, shares) - rounding))
	size.Mem -= int64(math.Ceil(running * m.mean(memory, shares)))
	size.GPUs -= int(math.Ceil(running*m.mean(gpus, shares) - rounding))
	return size
}

// join returns the plan of all parts.
func (d *planner) join() Plan {
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
	among, mix := among(d.q.Spec.Request.Partition, parts), d.mix()
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
			n := d.parts[i].mix.tasks()
			mean, known = mean+x.TaskMean.Seconds()*float64(n), known+n
		}
	}
	if known > 0 {
		p.TaskMean = wholeMillis(mean / float64(known))
	}
	if t := d.q.Spec.Bag.Throttle; t > 0 {
		p.TaskSlots = min(p.TaskSlots, t)
	}
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
	all.Interval, all.Median, all.P95, all.Stages = round(all.Interval), micros(all.Median), micros(all.P95), []Stage{}
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
	p.mixed(mix)
}

// mixed sets the tasks of a mix by their needs.
func (p *Plan) mixed(mix taskMix) {
	p.Mix = nil
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
	what += ": " + p.amount()
	if t := p.Turnaround(); t != nil {
		return fmt.Sprintf("%s; predicted turnaround %s (%s)", what, span(*t), p.Source)
	}
	return fmt.Sprintf("%s; no prediction (%s)", what, p.Source)
}
