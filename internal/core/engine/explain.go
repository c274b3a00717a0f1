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
	switch {
	case j.state == event.StateFinalizing:
		x.add("all tasks are done; the output is being moved to its final folder")
	case j.state == event.StateStopping:
		x.add("it is being stopped: %s", j.reason)
		x.running()
		x.nodes()
	case len(j.after) > 0:
		x.add("it begins when %s", explain.AllDone(j.after))
	case j.pool == nil:
		x.add("all of its tasks are over; it is open, and waits for more (berth add %s) until it is closed (berth close %s)", j.ID, j.ID)
	default:
		x.running()
		x.allocations()
		x.nodes()
		x.lost()
		if last := j.growth.last; last != "" {
			x.add("memory and time of tasks: %s", last)
		}
		x.grants()
		x.late()
		x.tasks()
		if n := j.counts[0].blocked; n > 0 {
			x.add("%s for other tasks of the bag to be done", explain.Do(n, "task", "wait"))
		}
		x.reduces()
		if n := j.unclaimed; n > 0 {
			x.add("it searches the nodes that join for %s from before the resume", job.Count(n, "map output"))
		}
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
	x.lines = append(x.lines, explain.With(s, values...))
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
			there[i] = explain.With("%s on %s", count[n], n.id)
		}
		x.add("%s of %s %s: %s", n, job.Count(x.j.work.Total(), "task"), explain.Verb(n, "run"), explain.Few(there))
	}
}

// allocations adds the allocations that serve the job or may serve it, and plans for more.
func (x *explanation) allocations() {
	p := x.j.pool
	for _, a := range p.allocs {
		var pr prospect
		for t := range x.j.next {
			pr.addOffer(a, p, t, x.now)
		}
		switch {
		case !a.hasBegun() && pr.ok && (a.job == x.j.ID || !p.anyUp()):
			starts := x.until(cmp.Or(a.start, a.req.Start))
			x.add("it waits for allocation %s: %s with %s each%s, requested from %s %s ago%s%s", a.id, job.Count(a.req.Nodes, "node"), a.req.PerNode,
				explain.If(" for %s", a.req.Time > 0, a.req.Time), a.req.On, x.since(a.requested), explain.If("; %s", a.note != "", a.note), explain.If("; expected in %s", starts > 0, starts))
		case a.paused:
			x.add("allocation %s: %s, for %s so far; its tasks go on when it does", a.id, a.note, x.since(a.resumed))
		case a.hasBegun() && (a.joined == 0 || a.deserted()):
			x.add("allocation %s began %s ago; none of its nodes is ready%s", a.id, x.since(a.beganAt()), explain.If("; %s", a.note != "", a.note))
		case a.hasBegun() && a.Ends != 0:
			others := x.e.cfg.Yield && a.job != x.j.ID && !x.e.jobs[a.job].isOver()
			x.add("allocation %s ends in %s%s", a.id, x.until(a.Ends), explain.If("; it may be given back once %s, which requested it, is done", others, a.job))
		}
	}
	if x.j.hasReady() {
		x.plan()
	}
}

// plan adds the state of planning, if no allocation serves the job.
func (x *explanation) plan() {
	pr, of := x.e.served(x.j)
	why, at := x.e.whyPlan(x.j, pr, of)
	plan, unproductive := &x.j.plan, &x.j.unproductive
	idle := explain.With("the last %s allocations ended without any task done (%s)", unproductive.n, unproductive.last)
	if unproductive.early > 0 {
		idle = explain.With("the last %s allocations in a row ended before a worker of theirs started (%s)", unproductive.early, unproductive.last)
	}
	switch {
	case plan.onWay:
		x.add("the remaining tasks are being planned: %s", plan.reason)
	case plan.failed != "":
		x.add("the remaining tasks could not be planned; the next try is in %s: %s", x.until(plan.retry), plan.failed)
	case (!pr.ok || x.j.losses.n > 0) && unproductive.exhausted():
		x.add("no further allocation is requested until a running task is done: %s", idle)
	case !pr.ok && unproductive.n+unproductive.early > 1:
		x.add("the remaining tasks are planned in %s: %s", x.until(at), idle)
	case x.j.losses.n > 0 && why == "":
		x.add("%s; the remaining tasks are planned once %s are done and measured", x.j.losses.reason(), job.Count(x.j.work.Scout, "task"))
	case x.j.losses.n > 0:
		x.add("the remaining tasks are planned in %s: %s", x.until(at), x.j.losses.reason())
	case !pr.ok && !x.j.mayPlan(x.e.now):
		x.add("its first tasks have just come; nodes are requested in a moment, together with those for the tasks that follow")
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
			x.add("%s has not answered for %s (%s); berth waits %s more for its %s and %s of this job", n.id, clock(x.since(n.since)), n.reason, clock(x.until(x.e.givenUpAt(n))),
				job.Count(n.Has(&x.j.Job), "attempt"), job.Count(x.outputsOn(n), "map output"))
		case n.state == up && n.Health.Suspected(x.now):
			x.add("%s gets no attempts for %s more: attempts failed or were lost there and not on other nodes", n.id, clock(x.until(n.Health.Until)))
		case n.state == up && n.Health.Avoided(x.now):
			x.add("no duplicate starts on %s for %s more, because attempts there were too slow", n.id, clock(x.until(n.Health.SlowUntil)))
		}
	}
}

// lost adds the last loss, while a task that was lost has not run again to its end.
func (x *explanation) lost() {
	if x.j.lastLost != "" && slices.ContainsFunc(x.j.tasks, func(t task) bool { return t.lost > 0 && t.status != done && t.status != failed }) {
		x.add("an attempt was lost and its task starts again: %s", x.j.lastLost)
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
				x.add("%s on %s for %s to sort and reduce; it has %s free", explain.Do(w.Count, "reduce", "wait"), n.id, need, n.Free().Resources())
				continue
			}
			x.lines = append(x.lines, explain.Waits(w.Count, w.Phase, n.id, w.Shortages))
		}
	}
}

// phase returns the phase of an attempt.
func (x *explanation) phase(r *sched.Running) job.Phase { return x.e.runningAttempt(r.ID).phase }

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
		x.add("%s: at most %s may run at once", explain.Do(count, kind.String(), "wait"), w.Throttle)
		return
	}
	told := false
	slices.SortFunc(wait, func(a, b *sched.Candidate) int { return cmp.Compare(a.Ready.First(), b.Ready.First()) })
	for i, c := range wait {
		if i == mostNeeds {
			x.add("%s that need something else", explain.Do(count, kind.String(), "wait"))
			break
		}
		count -= c.Ready.Count()
		if !x.scarce(c) {
			told = x.room(c) || told
		}
	}
	if told {
		x.before()
	}
}

// mostNeeds is of how many different needs the waiting tasks of a job are explained.
const mostNeeds = 3

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
		x.add("%s until %s of %s maps are done; %s are", waiting(c), n, maps.total, maps.done)
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
	if c.Several() {
		x.gangRoom(c, need)
		return true
	}
	want, kept := explain.With("%s each", need), ""
	if c.Kind == job.ReduceTask {
		want, kept = explain.With("%s each to shuffle in", need.Mem), x.kept(c)
	}
	var nodes []string
	for _, n := range p.nodes {
		if n.state != up {
			continue
		}
		var lacks []explain.Shortage
		if !x.e.cfg.Scheduler.WholeCores || c.Demand.GPU > n.FreeFor(c.Demand).GPU {
			lacks = n.Shortages(&x.j.Job, c.Demand, x.phase)
		}
		if len(lacks) > 0 {
			want = "room"
		}
		nodes = append(nodes, x.without(n, c, lacks))
	}
	x.add("%s for %s: %s%s", waiting(c), want, explain.Few(nodes), kept)
	return true
}

// gangRoom adds how many nodes a gang needs at once and how many have room, and which are reserved for it.
func (x *explanation) gangRoom(c *sched.Candidate, need job.Resources) {
	r := x.j.pool.GangRoom(c, x.now)
	if r.Nodes == 0 {
		x.add("%s for an allocation that holds %s at once, each with %s", waiting(c), job.Count(c.Ranks, "rank"), need)
		return
	}
	held := make([]job.NodeID, len(r.Held)) // those that are reserved
	for i, n := range r.Held {
		held[i] = x.e.nodeList[n.Index].id
	}
	x.add("%s for %s at once (%s with %s each); there is room now on %s, for %s%s%s", waiting(c), job.Count(r.Nodes, "node"), job.Count(c.Ranks, "rank"), need,
		job.Count(r.Free, "node"), job.Count(r.Ranks, "rank"), explain.If("; reserved for it: %s", len(held) > 0, explain.Few(held)),
		explain.If(", expected to be free in %s", r.Start > 0, x.until(r.Start)))
}

// waiting returns how many of the tasks of a candidate are ready, in words.
func waiting(c *sched.Candidate) string { return explain.Do(c.Ready.Count(), c.Kind.String(), "wait") }

// kept describes the memory of each node that reduces leave to others.
func (x *explanation) kept(c *sched.Candidate) string {
	kept, whose := c.Group().Reserved(), "maps"
	if kept > c.Room && x.e.cfg.Order.On(!x.j.pool.shape.Endless()) == sched.Shortest {
		whose = "jobs that go first"
	}
	return explain.If("; %s on each node is reserved for %s", kept > 0, kept, whose)
}

// without returns why no task of the candidate starts on the node.
func (x *explanation) without(n *node, c *sched.Candidate, lacks []explain.Shortage) string {
	free, has := n.FreeFor(c.Demand).Resources(), n.Capacity.Resources()
	need := c.Peak.Resources()
	free.GPUType, has.GPUType, need.GPUType = n.GPUType, n.GPUType, c.GPUType
	switch {
	case n.alloc.Retired:
		return explain.With("%s is being given back: the job that requested it is done", n.id)
	case !n.InTime(x.now, c.Span):
		return explain.With("%s has %s left, which is too short for one", n.id, max(1, x.until(n.alloc.Ends)))
	case c.Kind == job.BagTask && !need.Fits(has):
		return explain.With("%s has %s in all, which is not what one needs", n.id, has)
	case c.Kind == job.ReduceTask:
		return explain.With("%s has %s free and %s of at most %s shuffling", n.id, free.Mem, n.Shuffles, n.Capacity.Resources().CPUs)
	case !x.j.pool.Suits(c, &n.Node, x.now):
		return explain.With("on %s they have failed, and another node can run them", n.id)
	case !n.alloc.Has(c.Licensed, true):
		return explain.With("on %s too few licences of its allocation are free, which has %s", n.id, string(n.alloc.Licences))
	case len(lacks) > 0:
		return explain.With("on %s %s", n.id, explain.Lacks(lacks))
	}
	return explain.With("%s has %s free", n.id, free)
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
		x.add("%s %s on %s %s: %s; %s", a.Kind, index, a.node.id, x.expected(d), d.Why, x.remedy(a, d))
	}
	for _, t := range x.j.of {
		if n := t.Urgent.Ready.Count(); n > 0 {
			x.add("%s for a slot on another node, because an attempt was too slow", explain.Do(n, t.Kind().String(), "wait"))
		}
	}
}

// expected describes when a slow attempt ends, and how much sooner a new one would end.
func (x *explanation) expected(d *straggler.Verdict) string {
	end, fresh := x.until(d.End), x.until(d.Fresh)
	switch {
	case d.State == straggler.Hung:
		return "is not expected to end"
	case end == 0:
		return "is slow"
	}
	return explain.With("is expected to end in %s%s", end, explain.If(", %s later than a new attempt", fresh > 0 && end > fresh, end-fresh))
}

// remedy describes what is done about a slow attempt, or why nothing is done.
func (x *explanation) remedy(a *attempt, d *straggler.Verdict) string {
	switch beside := x.j.duplicates(a); {
	case beside > 0:
		return explain.With("%s of its task run, and the first to finish is committed", job.Count(beside+1, "attempt"))
	case d.Act == straggler.Keep:
		return "a new attempt would not end sooner"
	case !x.j.work.MayDuplicate(a.Kind) && !x.j.work.MayAbort(a.Kind):
		return "no second attempt starts, because the task's attempts may write the same files (allow it with --duplicates-ok, --outputs or --stragglers abort)"
	case d.Act == straggler.Abort:
		return "it is killed, and a new attempt starts on another node"
	}
	return "a duplicate starts as soon as a fast node has a free slot"
}

func (x *explanation) since(t job.Time) time.Duration { return max(0, x.now.Sub(t)) }

// until returns the duration until t, 0 if t has passed.
func (x *explanation) until(t job.Time) time.Duration { return max(0, t.Sub(x.now)) }

// before adds which jobs with something to start come first, and why.
func (x *explanation) before() {
	var earlier, shorter, aged, fairer, higher []job.ID
	for _, k := range x.j.pool.active {
		jobs := &earlier
		ahead, behind := x.j.pool.Ahead(&k.Job, &x.j.Job), x.j.pool.Ahead(&x.j.Job, &k.Job)
		switch {
		case !k.active() || !k.inLine(), behind, !ahead && !k.Before(x.j.Priority):
			continue
		case k.Level != x.j.Level:
			jobs = &higher
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
		x.add("before it in line: %s", explain.Few(earlier))
	}
	x.first(higher, "a higher priority")
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
		x.add("%s with %s %s first: %s", job.Count(len(jobs), "job"), with, goes, explain.Few(jobs))
	}
}

// inLine reports whether a task of the job could start if there were room.
func (j *jobState) inLine() bool {
	return slices.ContainsFunc(j.of, func(t *byNeeds) bool { return t.Begin.Group() != nil })
}
