package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// planner plans a job part by part, as if each part were a job of its own. The queue of a part has the requests of the parts before it, and
// the part counts on what these leave of their nodes.
type planner struct {
	q      *Question
	snap   cluster.Snapshot
	rooms  []room
	parts  []part // that are planned …
	plans  []Plan // … and their plans
	after  []part // that follow the next one
	budget int    // how many further requests may be made
	tasks  int    // of all parts
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
	for _, l := range q.liveAllocations() {
		d.rooms = append(d.rooms, room{Live: l})
	}
	for _, p := range parts {
		d.tasks += p.mix.count()
	}
	for i, p := range parts {
		d.after = parts[i+1:]
		if err := d.planWell(p); err != nil {
			return Plan{}, err
		}
	}
	return d.joinParts(), nil
}

// planWell plans the next part. Where it has to wait for nodes that hold all of its tasks, large and small ones get requests of
// their own if the part is done sooner so.
func (d *planner) planWell(p part) error {
	one := d.fork()
	if err := one.plan(p); err != nil {
		return err
	}
	made := &one.plans[len(d.plans)]
	large, small, ok := p.split()
	waits := made.ends > 0 && made.Alloc.Nodes > 0 && made.Alloc.Start > d.q.Now
	if ok && waits && !d.q.Spec.Request.Exclusive && d.budget > 1+len(d.after) {
		two := d.fork()
		two.after = append([]part{small}, d.after...)
		if two.plan(large) == nil {
			two.after = d.after
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
	slices.SortStableFunc(kinds, func(x, y kind) int { return bySize(x.whole(), y.whole()) })
	at, most := 0, 1.0
	for i := 1; i < len(kinds); i++ {
		x, y := kinds[i-1].whole(), kinds[i].whole()
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
	sub.Snap, sub.mix, sub.Checks = d.snap, p.mix, d.checks(p)
	seen, live, ahead, held := d.serving(p)
	if sub.Idle, sub.ahead = nil, ahead; d.q.Remaining == nil {
		sub.Idle = live
	} else {
		sub.Remaining = d.rest(p, live)
	}
	further := d.budget - len(d.after)
	if !slices.ContainsFunc(live, func(l job.Live) bool { return newAdaptor(d.q).pending(&l) }) {
		further = max(1, further)
	}
	sub.Spec = d.spec(p)
	if r := &sub.Spec.Request; r.MaxNodes > 0 {
		least := d.leastNodes(p)
		for i := range d.after {
			held += d.leastNodes(&d.after[i])
		}
		switch r.MaxNodes -= held; {
		case r.MaxNodes >= least:
		case r.MaxNodes+held < least:
			r.MaxNodes += held // the plan says how many a gang needs
		case len(live) == 0:
			return sub, nil, d.tooFew(held > 0 && len(d.after) == 0)
		default:
			r.MaxNodes, further = least, 0
		}
	}
	sub.allocs = &further
	return sub, seen, nil
}

// leastNodes returns how many nodes a request for a part has at least.
func (d *planner) leastNodes(p *part) int {
	least := max(1, d.q.Spec.Request.MinNodes)
	for i := range p.mix {
		least = max(least, leastOf(&p.mix[i].need, d.snap.Nodes, p.nodes))
	}
	return least
}

// serving returns the rooms that a part counts on, and how many nodes other parts have. A request counts if it starts at once, or
// if the durations of tasks are known: else nobody knows whether it is worth the wait.
func (d *planner) serving(p *part) (seen []int, live, ahead []job.Live, held int) {
	known := d.q.Profile != nil || d.q.Measured != nil && samples(d.q.Measured.Measures, job.Bag) > 0
	for k, r := range d.rooms {
		serves := p.mix.fitsIn(r.Request.PerNode, r.Request.Nodes)
		switch {
		case serves && !r.asked:
			seen, live = append(seen, k), append(live, r.Live)
			continue
		case serves && r.Start != 0 && (known || r.Start <= d.q.Now):
			seen, ahead = append(seen, k), append(ahead, r.Live)
		}
		held += r.Request.Nodes
	}
	return seen, live, ahead, held
}

// rest returns what is left of a part of a job that has begun.
func (d *planner) rest(p *part, live []job.Live) *job.Remaining {
	rest := *d.q.Remaining
	rest.Kept = time.Duration(float64(rest.Kept) * float64(p.mix.count()) / float64(max(1, rest.Tasks)))
	if rest.Tasks, rest.Live = p.mix.count(), live; rest.Needs != nil {
		rest.Span, rest.CutShort = p.mix.longest()
	}
	return &rest
}

// checks returns the batch system's answers that concern a part.
func (d *planner) checks(p *part) []Check {
	return slices.DeleteFunc(slices.Clone(d.q.Checks), func(c Check) bool {
		here := func(h *cluster.Partition) bool { return c.Partition == "" || c.Partition == h.Name }
		return c.PerNode.GPUs > 0 != p.gpus || !slices.ContainsFunc(p.homes, here)
	})
}

// tooFew returns the error for fewer allowed nodes than parts need. If others have these nodes now, it passes.
func (d *planner) tooFew(passes bool) error {
	e := job.ConfigError("--nodes", fmt.Sprintf("at most %s allowed, but no node holds all of the tasks: %s",
		are(d.q.Spec.Request.MaxNodes, "node"), d.q.tasksLeft().text(mostNeeds)), "allow more nodes")
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

// spec returns the spec of a part, as if it were a job.
func (d *planner) spec(p *part) *job.Spec {
	spec, bag := *d.q.Spec, *d.q.Spec.Bag
	bag.Need, bag.Gang = p.mix.leastNode(), job.Gang{}
	if bag.Throttle > 0 {
		bag.Throttle = max(1, ceilDiv(bag.Throttle*p.mix.count(), d.tasks))
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
	whole := r.Batch.Exclusive || part >= 0 && queue.Partitions[part].Whole
	queue.Pending = append(slices.Clip(queue.Pending), cluster.Queued{User: queue.User, Partition: r.Batch.Partition,
		Account: r.Batch.Account, QOS: r.Batch.QOS, Count: r.Nodes, PerNode: r.PerNode, Whole: whole, Start: r.Start, Limit: r.Time})
	d.snap.Queue = &queue
}

// leaves returns what the tasks leave of a node of that size while they run on so many such nodes.
func (m taskMix) leaves(size job.Resources, nodes int) job.Resources {
	shares := m.shares()
	running := min(float64(m.slotsOn(size)), float64(m.count())/float64(max(1, nodes)))
	size.CPUs -= int(math.Ceil(running*m.meanNeed(cpus, shares) - rounding))
	size.Mem -= int64(math.Ceil(running * m.meanNeed(memory, shares)))
	size.GPUs -= int(math.Ceil(running*m.meanNeed(gpus, shares) - rounding))
	return size
}
