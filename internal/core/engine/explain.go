package engine

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
)

// Explain returns the reasons for the state of a job, a line for each, none for a job that is over or unknown.
func (e *Engine) Explain(now job.Time, id job.ID) []string {
	j := e.jobs[id]
	if j == nil || j.state.Final() {
		return nil
	}
	x := &explanation{e: e, j: j, now: now}
	switch j.state {
	case event.StateFinalizing:
		x.add(explain.Finalizing)
	case event.StateStopping:
		x.add(explain.Stopping, j.reason)
		x.running()
		x.nodes()
	default:
		switch {
		case len(x.j.after) > 0:
			x.add(explain.AfterJobs, explain.AllDone(x.j.after))
			return x.lines
		case x.j.pool == nil:
			x.add(explain.BagRests, x.j.ID, x.j.ID)
			return x.lines
		}
		x.running()
		x.allocations()
		x.nodes()
		x.lost()
		if last := j.growth.last; last != "" {
			x.add(explain.NeedsChanged, last)
		}
		x.grants()
		x.late()
		x.tasks()
		x.blocked()
		x.reduces()
		x.outputs()
	}
	return x.lines
}

// explanation collects the reasons for the state of a job.
type explanation struct {
	e     *Engine
	j     *jobState
	now   job.Time
	lines []string
}

func (x *explanation) add(s explain.Sentence, values ...any) {
	x.lines = append(x.lines, s.With(values...))
}

// running adds how many attempts run, and where.
func (x *explanation) running() {
	var nodes []*node
	count := make(map[*node]int)
	for _, a := range x.j.sorted() {
		if count[a.node]++; count[a.node] == 1 {
			nodes = append(nodes, a.node)
		}
	}
	if n := x.j.Live; n > 0 {
		there := make([]string, len(nodes))
		for i, n := range nodes {
			there[i] = explain.TasksOnNode.With(count[n], n.id)
		}
		x.add(explain.TasksRun, n, job.Count(x.j.work.Total(), "task"), explain.Verb(n, "run"), explain.Few(there))
	}
}

// allocations adds the allocations that serve the job or may serve it, and plans for more.
func (x *explanation) allocations() {
	p := x.j.pool
	for _, a := range p.allocs {
		var pr prospect
		for t := range x.j.next {
			pr.add(a, p, t, x.now)
		}
		switch {
		case !a.up() && pr.ok && (a.job == x.j.ID || !p.anyUp()):
			starts := x.until(cmp.Or(a.start, a.req.Start))
			x.add(explain.AllocWaits, a.id, job.Count(a.req.Nodes, "node"), a.req.PerNode, explain.AllocFor.If(a.req.Time > 0, a.req.Time), a.req.On,
				x.since(a.requested), explain.AllocReason.If(a.note != "", a.note), explain.AllocExpected.If(starts > 0, starts))
		case a.paused:
			x.add(explain.AllocPaused, a.id, a.note, x.since(a.resumed))
		case a.up() && (a.joined == 0 || a.deserted()):
			x.add(explain.NoNodeYet, a.id, x.since(a.since()), explain.AllocReason.If(a.note != "", a.note))
		case a.up() && a.Ends != 0:
			others := x.e.cfg.Yield && a.job != x.j.ID && !x.e.jobs[a.job].over()
			x.add(explain.AllocEnds, a.id, x.until(a.Ends), explain.AllocGivenBack.If(others, a.job))
		}
	}
	if x.j.waits() {
		x.plan()
	}
}

// plan adds the state of planning, if no allocation serves the job.
func (x *explanation) plan() {
	pr, of := x.e.served(x.j)
	why, at := x.e.whyPlan(x.j, pr, of)
	plan, unproductive := &x.j.plan, &x.j.unproductive
	idle := explain.Unproductive.With(unproductive.n, unproductive.last)
	if unproductive.early > 0 {
		idle = explain.NeverBegan.With(unproductive.early, unproductive.last)
	}
	switch {
	case plan.onWay:
		x.add(explain.PlanPending, plan.reason)
	case plan.failed != "":
		x.add(explain.PlanFailed, x.until(plan.retry), plan.failed)
	case (!pr.ok || x.j.losses.n > 0) && unproductive.most():
		x.add(explain.PlanNever, idle)
	case !pr.ok && unproductive.n+unproductive.early > 1:
		x.add(explain.PlanLater, x.until(at), idle)
	case x.j.losses.n > 0 && why == "":
		x.add(explain.PlanMeasured, x.j.losses.text(), job.Count(x.j.work.Scout, "task"))
	case x.j.losses.n > 0:
		x.add(explain.PlanLater, x.until(at), x.j.losses.text())
	case !pr.ok && !x.j.plans(x.e.now):
		x.add(explain.PlanSoon)
	case plan.none != "":
		x.lines = append(x.lines, plan.none)
	}
}

// nodes adds the nodes that are away, with the job's attempts and outputs there, and suspected nodes.
func (x *explanation) nodes() {
	for _, n := range x.j.pool.nodes {
		switch {
		case n.state == down && n.alloc.paused: // the allocation is told of
		case n.state == down:
			x.add(explain.NodeAway, n.id, clock(x.since(n.since)), n.reason, clock(x.until(x.e.givenUpAt(n))),
				job.Count(n.Has(&x.j.Job), "attempt"), job.Count(x.outputsOn(n), "map output"))
		case n.state == up && n.Health.Suspected(x.now):
			x.add(explain.NodeSuspected, n.id, clock(x.until(n.Health.Until())))
		case n.state == up && n.Health.Avoided(x.now):
			x.add(explain.NodeSlow, n.id, clock(x.until(n.Health.Clear())))
		}
	}
}

// lost adds the last loss, while a task that was lost has not run again to its end.
func (x *explanation) lost() {
	if x.j.lastLost != "" && slices.ContainsFunc(x.j.tasks, func(t task) bool { return t.lost > 0 && t.status != done && t.status != failed }) {
		x.add(explain.LastLost, x.j.lastLost)
	}
}

// clock writes a duration in whole seconds, with all its units: "1m0s".
func clock(d time.Duration) string { return d.Round(time.Second).String() }

func (x *explanation) outputsOn(n *node) int {
	count := 0
	if x.j.shuffles() {
		for i := range x.j.work.Tasks {
			if x.j.tasks[i].status == done && int(x.j.holder[i]) == n.Index {
				count++
			}
		}
	}
	return count
}

// grants adds the attempts that wait for a grant.
func (x *explanation) grants() {
	for _, n := range x.j.pool.nodes {
		for _, w := range n.Waits(&x.j.Job, x.phase) {
			if x.e.cfg.Scheduler.WholeCores {
				need := job.Resources{CPUs: x.j.work.ReduceNeed.CPUs}
				x.add(explain.SortWaits, explain.Do(w.Count, "reduce", "wait"), n.id, need, n.Free().Resources())
				continue
			}
			x.lines = append(x.lines, explain.Waits(w.Count, w.Phase, n.id, w.Shortages))
		}
	}
}

// phase returns the phase of an attempt.
func (x *explanation) phase(r *sched.Running) job.Phase { return x.e.find(r.ID).phase }

// tasks adds why ready bag tasks or maps do not start, for the first in line.
func (x *explanation) tasks() {
	j, count := x.j, 0
	var wait []*sched.Candidate
	for _, t := range j.of {
		if n := t.Begin.Ready.Count(); n > 0 && t.Kind() != job.ReduceTask {
			wait, count = append(wait, &t.Begin), count+n
		}
	}
	if len(wait) == 0 {
		return
	}
	kind := wait[0].Kind
	if w := &j.work; w.Throttle > 0 && j.counts[0].running >= w.Throttle {
		x.add(explain.Throttled, explain.Do(count, kind.String(), "wait"), w.Throttle)
		return
	}
	told := false
	slices.SortFunc(wait, func(a, b *sched.Candidate) int { return cmp.Compare(a.Ready.First(), b.Ready.First()) })
	for i, c := range wait {
		if i == mostNeeds {
			x.add(explain.OtherNeeds, explain.Do(count, kind.String(), "wait"))
			break
		}
		count -= c.Ready.Count()
		told = x.room(c) || told
	}
	if told {
		x.before()
	}
}

// mostNeeds is of how many different needs the waiting tasks of a job are explained.
const mostNeeds = 3

// blocked adds how many tasks wait for others.
func (x *explanation) blocked() {
	if n := x.j.counts[0].blocked; n > 0 {
		x.add(explain.TasksBlocked, explain.Do(n, "task", "wait"))
	}
}

// reduces adds why ready reduces do not start.
func (x *explanation) reduces() {
	j := x.j
	if j.work.Kind != job.MapReduce {
		return
	}
	c, maps := &j.of[1].Begin, &j.counts[0]
	if c.Ready.Count() == 0 {
		return
	}
	if n := sched.SlowStart(maps.total, j.work.SlowStart); maps.done < n {
		x.add(explain.SlowStart, waiting(c), n, maps.total, maps.done)
		return
	}
	if x.room(c) {
		x.before()
	}
}

// room adds what the candidate lacks on the nodes that are up, if it waits for one of them.
func (x *explanation) room(c *sched.Candidate) bool {
	p := x.j.pool
	if !p.anyUp() || c.Group() == nil {
		return false
	}
	need := c.Peak.Resources()
	need.GPUType = c.GPUType
	want, kept := explain.RoomEach.With(need), ""
	if c.Kind == job.ReduceTask {
		want, kept = explain.RoomShuffle.With(need.Mem), x.kept(c)
	}
	var nodes []string
	for _, n := range p.nodes {
		if n.state != up {
			continue
		}
		var lacks []explain.Shortage
		if !x.e.cfg.Scheduler.WholeCores || c.Demand.GPU > n.Free().GPU {
			lacks = n.Shortages(&x.j.Job, c.Demand, x.phase)
		}
		if len(lacks) > 0 {
			want = "room"
		}
		nodes = append(nodes, x.without(n, c, lacks))
	}
	x.add(explain.RoomWaits, waiting(c), want, explain.Few(nodes), kept)
	return true
}

// waiting returns how many of the tasks of a candidate are ready, in words.
func waiting(c *sched.Candidate) string { return explain.Do(c.Ready.Count(), c.Kind.String(), "wait") }

// kept describes the memory of each node that reduces leave to others.
func (x *explanation) kept(c *sched.Candidate) string {
	kept, whose := c.Group().Reserved(), "maps"
	if kept > c.Room && x.e.cfg.Order.On(!x.j.pool.shape.Endless()) == sched.Shortest {
		whose = "jobs that go first"
	}
	return explain.RoomKept.If(kept > 0, kept, whose)
}

// without returns why no task of the candidate starts on the node.
func (x *explanation) without(n *node, c *sched.Candidate, lacks []explain.Shortage) string {
	free, has := n.Free().Resources(), n.Capacity.Resources()
	need := c.Peak.Resources()
	free.GPUType, has.GPUType, need.GPUType = n.GPUType, n.GPUType, c.GPUType
	switch {
	case n.alloc.Retired:
		return explain.NodeReturned.With(n.id)
	case !n.InTime(x.now, c.Span):
		return explain.NodeTooShort.With(n.id, max(1, x.until(n.alloc.Ends)))
	case c.Kind == job.BagTask && !need.Fits(has):
		return explain.NodeSmall.With(n.id, has)
	case c.Kind == job.ReduceTask:
		return explain.NodeShuffles.With(n.id, free.Mem, n.Shuffles, n.Capacity.Resources().CPUs)
	case !x.j.pool.Suits(c, &n.Node, x.now):
		return explain.NodeFailed.With(n.id)
	case len(lacks) > 0:
		return explain.NodeLacks.With(n.id, explain.Lacks(lacks))
	}
	return explain.NodeFree.With(n.id, free)
}

// late adds attempts that are slower than others, and tasks that start again because of that.
func (x *explanation) late() {
	for _, a := range x.j.sorted() {
		d := a.verdict
		if d == nil || d.State < straggler.Slow && d.Act == straggler.Keep {
			continue
		}
		index := a.ID.Task + 1
		if a.Kind == job.ReduceTask {
			index -= x.j.work.Tasks
		}
		x.add(explain.SlowTask, a.Kind, index, a.node.id, x.expected(d), d.Why, x.remedy(a, d))
	}
	for _, t := range x.j.of {
		if n := t.Urgent.Ready.Count(); n > 0 {
			x.add(explain.UrgentWaits, explain.Do(n, t.Kind().String(), "wait"))
		}
	}
}

// expected describes when a slow attempt ends, and how much sooner a new one would end.
func (x *explanation) expected(d *straggler.Verdict) string {
	end, fresh := x.until(d.End), x.until(d.Fresh)
	switch {
	case d.State == straggler.Hung:
		return explain.EndsNever.With()
	case end == 0:
		return explain.EndsUnknown.With()
	}
	return explain.EndsIn.With(end, explain.EndsLater.If(fresh > 0 && end > fresh, end-fresh))
}

// remedy describes what is done about a slow attempt, or why nothing is done.
func (x *explanation) remedy(a *attempt, d *straggler.Verdict) string {
	switch beside := x.j.duplicates(a); {
	case beside > 0:
		return explain.DuplicateRuns.With(job.Count(beside+1, "attempt"))
	case d.Act == straggler.Keep:
		return explain.NoGain.With()
	case !x.j.work.MayDuplicate(a.Kind) && !x.j.work.MayAbort(a.Kind):
		return explain.NotAllowed.With()
	case d.Act == straggler.Abort:
		return explain.Aborted.With()
	}
	return explain.DuplicateStarts.With()
}

// outputs adds map outputs whose holder is unknown since a resume.
func (x *explanation) outputs() {
	if n := x.j.unclaimed; n > 0 {
		x.add(explain.OutputsSought, job.Count(n, "map output"))
	}
}

func (x *explanation) since(t job.Time) time.Duration { return max(0, x.now.Sub(t)) }

// until returns the duration until t, 0 if t has passed.
func (x *explanation) until(t job.Time) time.Duration { return max(0, t.Sub(x.now)) }

// before adds which jobs with something to start come first, and why.
func (x *explanation) before() {
	var earlier, shorter, aged, fairer []job.ID
	for _, k := range x.j.pool.active {
		jobs := &earlier
		ahead, behind := x.j.pool.Ahead(&k.Job, &x.j.Job), x.j.pool.Ahead(&x.j.Job, &k.Job)
		switch {
		case !k.active() || !k.inLine(), behind, !ahead && !k.Before(x.j.Priority):
			continue
		case ahead:
			jobs = &fairer
		case k.Rank == x.j.Rank:
		case x.e.cfg.Scheduler.Line == sched.Shares:
			jobs = &fairer
		case k.Work()/k.Weight < x.j.Work()/x.j.Weight:
			jobs = &shorter
		default:
			jobs = &aged
		}
		*jobs = append(*jobs, k.ID)
	}
	if len(earlier) > 0 {
		x.add(explain.EarlierJobs, explain.Few(earlier))
	}
	x.first(shorter, "less left to do")
	x.first(aged, "more waiting time")
	x.first(fairer, "less of a fair share")
}

// first adds the jobs that come first because of what they have.
func (x *explanation) first(jobs []job.ID, with string) {
	goes := "go"
	if len(jobs) == 1 {
		goes = "goes"
	}
	if len(jobs) > 0 {
		x.add(explain.JobsFirst, job.Count(len(jobs), "job"), with, goes, explain.Few(jobs))
	}
}

// inLine reports whether a task of the job could start if there were room.
func (j *jobState) inLine() bool {
	return slices.ContainsFunc(j.of, func(t *byNeeds) bool { return t.Begin.Group() != nil })
}
