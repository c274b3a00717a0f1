package engine

import (
	"time"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
)

// Explain returns the reasons for the state of a job, none for a job that is over or unknown.
func (e *Engine) Explain(now job.Time, id job.ID) []explain.Reason {
	j := e.jobs[id]
	if j == nil || j.state.Final() {
		return nil
	}
	x := &explanation{e: e, j: j, now: now}
	switch j.state {
	case event.StateFinalizing:
		x.add(explain.Reason{Kind: explain.Finalizing})
	case event.StateStopping:
		x.add(explain.Reason{Kind: explain.Stopping, Text: j.reason})
		x.running()
		x.nodes()
	default:
		if x.j.pool == nil {
			x.add(explain.Reason{Kind: explain.AfterJobs, Jobs: x.j.after})
			return x.reasons
		}
		x.running()
		x.allocations()
		x.nodes()
		x.grants()
		x.late()
		x.tasks()
		x.reduces()
		x.outputs()
	}
	return x.reasons
}

// explanation collects the reasons for the state of a job.
type explanation struct {
	e       *Engine
	j       *jobState
	now     job.Time
	reasons []explain.Reason
}

func (x *explanation) add(r explain.Reason) { x.reasons = append(x.reasons, r) }

// running adds how many attempts run, and where.
func (x *explanation) running() {
	index := make(map[*node]int) // index in nodes
	var nodes []explain.Node
	for _, a := range x.j.sorted() {
		i, known := index[a.node]
		if !known {
			i, nodes = len(nodes), append(nodes, explain.Node{ID: a.node.id})
			index[a.node] = i
		}
		nodes[i].Count++
	}
	if n := x.j.Live; n > 0 {
		x.add(explain.Reason{Kind: explain.TasksRun, Count: n, Of: x.j.work.Total(), Nodes: nodes})
	}
}

// allocations adds the allocations that serve the job or may serve it, and plans for more.
func (x *explanation) allocations() {
	p := x.j.pool
	class, ready := x.j.waits.next()
	for _, a := range p.allocs {
		var pr prospect
		pr.add(a, x.j, class, x.now)
		switch {
		case !a.up() && pr.ok && (a.job == x.j.work.ID || !p.anyUp()):
			r := explain.Reason{Kind: explain.AllocWaits, Alloc: a.id, Request: &a.req, Since: x.since(a.requested), Text: a.note}
			if st := x.e.allocStatus(a); st.Start > x.now {
				r.Left = x.until(st.Start)
			}
			x.add(r)
		case a.up() && a.joined == 0:
			x.add(explain.Reason{Kind: explain.NoNodeYet, Alloc: a.id, Since: x.since(a.since())})
		case a.up() && a.Ends != 0:
			r := explain.Reason{Kind: explain.AllocEnds, Alloc: a.id, Left: x.until(a.Ends)}
			if x.e.cfg.Yield && a.job != x.j.work.ID && !x.e.jobs[a.job].over() {
				r.Jobs = append(r.Jobs, a.job)
			}
			x.add(r)
		}
	}
	if ready {
		x.plan()
	}
}

// plan adds the state of planning, if no allocation serves the job.
func (x *explanation) plan() {
	pr, plan, unproductive := x.e.served(x.j), &x.j.plan, &x.j.unproductive
	switch {
	case plan.onWay:
		x.add(explain.Reason{Kind: explain.PlanPending, Text: plan.reason})
	case plan.failed != "":
		x.add(explain.Reason{Kind: explain.PlanFailed, Left: x.until(plan.retry), Text: plan.failed})
	case !pr.ok && unproductive.n >= x.e.cfg.MaxUnproductive:
		x.add(explain.Reason{Kind: explain.PlanNever, Count: unproductive.n, Text: unproductive.last})
	case !pr.ok && unproductive.n > 1:
		x.add(explain.Reason{Kind: explain.PlanLater, Left: x.until(x.e.planAfter(x.j, pr)), Count: unproductive.n, Text: unproductive.last})
	}
}

// nodes adds the nodes that are away, with the job's attempts and outputs there, and suspected nodes.
func (x *explanation) nodes() {
	for _, n := range x.j.pool.nodes {
		there := []explain.Node{{ID: n.id}}
		switch {
		case n.state == down:
			x.add(explain.Reason{Kind: explain.NodeAway, Nodes: there, Since: x.since(n.since), Text: n.reason, Left: x.until(n.since.Add(x.e.cfg.NodeTimeout)),
				Count: n.Has(&x.j.Job), Of: x.outputsOn(n)})
		case n.state == up && n.Health.Suspected(x.now):
			x.add(explain.Reason{Kind: explain.NodeSuspected, Nodes: there, Left: x.until(n.Health.Until())})
		case n.state == up && n.Health.Avoided(x.now):
			x.add(explain.Reason{Kind: explain.NodeSlow, Nodes: there, Left: x.until(n.Health.Clear())})
		}
	}
}

func (x *explanation) outputsOn(n *node) int {
	count := 0
	if x.j.shuffles() {
		for i := range x.j.work.Tasks {
			if t := &x.j.tasks[i]; t.status == done && int(t.holder) == n.Index {
				count++
			}
		}
	}
	return count
}

// grants adds the attempts that wait for a grant.
func (x *explanation) grants() {
	for _, n := range x.j.pool.nodes {
		for _, r := range n.Waits(&x.j.Job, x.phase) {
			r.Nodes = []explain.Node{{ID: n.id, Free: n.Free().Resources()}}
			if x.e.cfg.Scheduler.WholeCores() {
				r.Kind, r.Need = explain.SortWaits, job.Resources{CPUs: x.j.work.ReduceNeed.CPUs}
			}
			x.add(r)
		}
	}
}

// phase returns the phase of an attempt.
func (x *explanation) phase(r *sched.Running) job.Phase { return x.e.find(r.ID).phase }

// tasks adds why ready bag tasks or maps do not start.
func (x *explanation) tasks() {
	j := x.j
	c := &j.Begin[0]
	if c.Ready.Count() == 0 {
		return
	}
	if w := &j.work; w.Throttle > 0 && j.counts[0].running >= w.Throttle {
		x.add(explain.Reason{Kind: explain.Throttled, Task: c.Kind, Count: c.Ready.Count(), Of: w.Throttle})
		return
	}
	x.room(c)
}

// reduces adds why ready reduces do not start.
func (x *explanation) reduces() {
	j := x.j
	c, maps := &j.Begin[1], &j.counts[0]
	if c.Ready.Count() == 0 {
		return
	}
	if n := sched.SlowStart(maps.total, j.work.SlowStart); maps.done < n {
		x.add(explain.Reason{Kind: explain.SlowStart, Task: job.ReduceTask, Count: c.Ready.Count(), Of: n, Total: maps.total, Done: maps.done})
		return
	}
	x.room(c)
}

// room adds what a class lacks on the nodes that are up, and which jobs come before.
func (x *explanation) room(c *sched.Candidate) {
	p := x.j.pool
	if !p.anyUp() || c.Class() == nil {
		return
	}
	r := explain.Reason{Kind: explain.RoomWaits, Task: c.Kind, Count: c.Ready.Count(), Need: c.Peak.Resources()}
	for _, n := range p.nodes {
		if n.state == up {
			r.Nodes = append(r.Nodes, x.without(n, c))
		}
	}
	if c.Kind == job.ReduceTask {
		r.Kept = c.Class().Reserved()
		r.KeptForJobs = r.Kept > c.Room && x.e.cfg.Order.On(!p.shape.Endless()) == sched.Shortest
	}
	x.add(r)
	x.before()
}

// without adds why no task of the candidate starts on the node.
func (x *explanation) without(n *node, c *sched.Candidate) explain.Node {
	r := explain.Node{ID: n.id, Free: n.Free().Resources(), Returned: n.alloc.Retired}
	if !x.e.cfg.Scheduler.WholeCores() {
		r.Shortages = n.Shortages(&x.j.Job, c.Demand, x.phase)
	}
	if !n.InTime(x.now, c.Span) {
		r.EndsIn = max(1, x.until(n.alloc.Ends))
	}
	if c.Kind == job.ReduceTask {
		r.Shuffling, r.Cores = n.Shuffles, n.Capacity.Resources().CPUs
	}
	return r
}

// late adds attempts that are slower than others, and tasks that start again because of that.
func (x *explanation) late() {
	for _, a := range x.j.sorted() {
		d, kind := a.verdict, a.Kind
		if d == nil || d.Class < straggler.Slow && d.Act == straggler.Keep {
			continue
		}
		l := explain.Late{Attempt: a.ID, Index: a.ID.Task, Node: a.node.id, Class: d.Class.String(), Act: d.Act.String(), Why: d.Why, Beside: x.j.duplicates(a),
			Allowed: x.j.work.MayDuplicate(kind) || x.j.work.MayAbort(kind)}
		if kind == job.ReduceTask {
			l.Index -= x.j.work.Tasks
		}
		if d.End != 0 {
			l.End, l.Fresh = x.until(d.End), x.until(d.Fresh)
		}
		x.add(explain.Reason{Kind: explain.SlowTask, Task: kind, Late: &l})
	}
	for i := range x.j.Urgent {
		if n := x.j.Urgent[i].Ready.Count(); n > 0 {
			x.add(explain.Reason{Kind: explain.UrgentWaits, Task: x.j.Begin[i].Kind, Count: n})
		}
	}
}

// outputs adds map outputs whose holder is unknown since a resume.
func (x *explanation) outputs() {
	if n := x.j.unclaimed; n > 0 {
		x.add(explain.Reason{Kind: explain.OutputsSought, Count: n})
	}
}

func (x *explanation) since(t job.Time) time.Duration { return max(0, x.now.Sub(t)) }

// until returns the duration until t, 0 if t has passed.
func (x *explanation) until(t job.Time) time.Duration { return max(0, t.Sub(x.now)) }

// before adds which jobs with something to start come first, and why.
func (x *explanation) before() {
	reasons := []explain.Reason{{Kind: explain.EarlierJobs}, {Kind: explain.ShorterJobs}, {Kind: explain.AgedJobs}, {Kind: explain.FairerJobs}}
	for _, k := range x.j.pool.active {
		r := &reasons[0]
		switch {
		case !k.Before(x.j.Priority) || !k.active() || k.Begin[0].Class() == nil && k.Begin[1].Class() == nil:
			continue
		case k.Rank == x.j.Rank:
		case x.e.cfg.Scheduler.Fair():
			r = &reasons[3]
		case work(k) < work(x.j):
			r = &reasons[1]
		default:
			r = &reasons[2]
		}
		r.Jobs = append(r.Jobs, k.ID)
	}
	for _, r := range reasons {
		if len(r.Jobs) > 0 {
			x.add(r)
		}
	}
}

// work returns the core-seconds of the job that have yet to start.
func work(j *jobState) float64 { return j.Left[0].Work() + j.Left[1].Work() }
