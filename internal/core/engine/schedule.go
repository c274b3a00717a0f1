package engine

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// schedule carries out the decisions of the pool's scheduler.
func (e *Engine) schedule(p *pool) {
	held := p.HeldUntil()
	for d := range p.Decisions(e.now) {
		switch c := d.Candidate; {
		case d.Node == nil:
			for _, r := range d.End {
				e.killAttempt(e.runningAttempt(r.ID), "its memory is needed by a "+c.Kind.String()+" that comes first")
			}
		case c.Running != nil:
			sort := p.SortMemory(d.Node, c)
			e.emit(event.PhaseGranted{Attempt: c.Running.ID, Phase: c.Through})
			p.GrantSort(d.Node, c.Running, sort)
			e.do(step.Grant{Attempt: c.Running.ID, Node: e.nodeList[d.Node.Index].id, Phase: c.Through, Memory: sort})
		default:
			n := e.nodeList[d.Node.Index]
			if d.Gang != nil {
				e.startGang(c, d)
			} else {
				e.sendBehind(c, n, e.startTask(c, n, d.Task, nil, nil))
			}
		}
	}
	if p.Freed() {
		e.markPool(p)
	}
	e.stale = e.stale || p.HeldUntil() != held
	if e.scarce.Review(&p.Pool, e.now) {
		e.scarceChanged()
	}
}

// startTask starts a task of the candidate on the node, at once or behind another attempt; of a gang on all of its nodes.
func (e *Engine) startTask(c *sched.Candidate, n *node, i int, lead *attempt, gang []event.Share) *attempt {
	j := c.Job.Owner.(*jobState)
	id := job.Attempt{Job: j.ID, Task: i, N: int(j.tasks[i].attempt) + 1}
	// An attempt of a bag task that cannot get a duplicate need not ask to commit.
	commit := c.Kind == job.BagTask && j.tasks[i].status == ready && !e.mayDuplicate(j, j.tasksAlike(i)) && gang == nil
	sort := j.pool.SortMemory(&n.Node, c)
	started := event.AttemptStarted{Attempt: id, Node: n.id, Through: c.Through, Commit: commit, Mem: j.memory(i), Gang: gang}
	start := step.Start{Attempt: id, Node: n.id, Through: c.Through, Commit: commit, Unbegun: j.unbegun[int32(i)],
		Expected: j.tasksAlike(i).Left.Known(), Memory: sort}
	if lead != nil {
		started.Behind, start.Behind = lead.ID.Task+1, lead.ID
	}
	if gang == nil {
		started.GPUs = n.Sharing(c.Demand, 1)
	}
	start.Gang, start.GPUs = e.joinGang(id, gang), started.GPUs
	e.emit(started)
	start.Asks = e.contested(j)
	e.runningAttempt(id).asks = start.Asks
	if sort > 0 {
		j.pool.GrantSort(&n.Node, &e.runningAttempt(id).Running, sort)
	}
	if j.growth.on {
		start.Mem, start.TimeLimit = j.tasksAlike(i).needs.Mem, j.tasksAlike(i).needs.TimeLimit
	}
	e.do(start)
	if c.Kind == job.ReduceTask {
		e.tellOutputs(n, j)
	}
	return e.runningAttempt(id)
}

// enqueue updates the job's candidates after any change of the job.
func (e *Engine) enqueue(j *jobState) {
	p := j.pool
	if p == nil {
		return
	}
	e.review(j)
	j.recount()
	was := j.behind
	if j.setUrgency(e.now); j.behind && !was {
		e.touchAllocs()
	}
	place := j.Priority
	if p.Rerank(&j.Job) {
		e.markPool(p)
	}
	if j.Priority != place {
		e.scarceMoved()
	}
	for _, t := range j.of {
		c := &t.Begin
		if c.Room = 0; c.Kind == job.ReduceTask && j.Waits {
			c.Room = j.of[0].Demand.Most(job.PhaseNone, c.Kind.Last()).Memory
		}
		e.put(j, c, t, c.Ready.Count() > 0 && j.startable(t))
		if u := &t.Urgent; u.Group() != nil || u.Ready.Count() > 0 {
			e.put(j, u, t, j.active() && u.Ready.Count() > 0 && (j.work.Throttle == 0 || j.Live < j.work.Throttle))
		}
	}
}

// put adds a candidate to those that wait for a node, or removes it.
func (e *Engine) put(j *jobState, c *sched.Candidate, t *byNeeds, waits bool) {
	upper := t.Upper()
	changed := upper != c.Upper && j.pool.Gangs // what may start on nodes that are reserved for a gang
	if c.Upper = upper; waits {
		c.Span, c.Alone = t.span, 0
		if c.Urgent || c.Ready.Choosy() {
			c.Alone = j.Order
		}
		changed = j.pool.Put(c) || changed
	} else {
		changed = j.pool.Remove(c) || changed
	}
	if changed {
		e.markPool(j.pool)
	}
}

// startable reports whether any of the ready ones of these tasks may start now.
func (j *jobState) startable(t *byNeeds) bool {
	w, maps := &j.work, &j.counts[0]
	switch {
	case !t.waits:
		return false
	case t.Kind() == job.ReduceTask:
		return maps.done >= sched.SlowStart(maps.total, w.SlowStart)
	}
	return w.Throttle == 0 || maps.running < w.Throttle
}

// retryTask makes a task start again, if possible not on the node with the index avoid.
func (j *jobState) retryTask(i int, avoid int32) {
	j.tasksAlike(i).Begin.Ready.Retry(int32(i), avoid, j.tasks[i].cut, j.failedOn[int32(i)])
}

// noteBad notes that an attempt of a task of a bag failed on the node, or found no space there. Maps and reduces wait for each other, so they do not
// wait for certain nodes; of a gang it is not known on which of its nodes it failed.
func (j *jobState) noteBad(i int, n *node) {
	bad := j.failedOn[int32(i)]
	if j.work.Kind != job.Bag || j.tasksAlike(i).Begin.Several() || slices.Contains(bad, int32(n.Index)) {
		return
	}
	if j.failedOn == nil {
		j.failedOn = make(map[int32][]int32)
	}
	j.failedOn[int32(i)] = append(slices.Clip(bad), int32(n.Index))
}

// demand computes the demand of the job's tasks by phase, as its terms or its measurements may have changed.
func (j *jobState) demand() {
	for _, t := range j.of {
		t.Limit = t.needs.TimeLimit
		t.Set(&j.pool.Pool, t.needs.Resources(), t.needs.Gang, j.work.Trusted)
		t.Begin.Uses, t.Urgent.Uses = t.needs.Uses, t.needs.Uses
		t.Begin.Licensed = j.licensed(t.needs.Uses)
		t.Urgent.Licensed = t.Begin.Licensed
	}
}

// recount counts the job's tasks that have no core yet. If the output of a map was lost while all reduces
// have one, the map remains.
func (j *jobState) recount() {
	for _, t := range j.of {
		if t.Left.Tasks = t.left() - t.running; t.Kind() == job.ReduceTask {
			t.Left.Tasks += j.Shuffles
		}
	}
	if waits := j.counts[0].done < j.counts[0].total; waits != j.Waits {
		j.Waits = waits
		j.noteShuffles()
	}
}

// noteShuffles notes whether the shuffling reduces of the job have to wait for maps.
func (j *jobState) noteShuffles() {
	if j.Shuffles == 0 {
		return
	}
	for _, a := range j.sorted() {
		j.pool.Shuffle(&a.node.Node, &a.Running, j.Waits)
	}
}

// resize notes that an allocation of the pool has begun or ended. If the number of the pool's
// cores has doubled or halved, all its jobs are ranked again, which costs one step for each job.
func (e *Engine) resize(p *pool) {
	cores := 0
	for _, a := range p.allocs {
		if a.hasBegun() {
			cores += a.req.Nodes * a.req.PerNode.CPUs
		}
	}
	p.Cores = cores
	scale := sched.PoolScale(p.Scale, cores)
	if scale == p.Scale {
		return
	}
	p.Scale = scale
	e.rerank(p)
}

// widenPool notes the capacity of a node of the pool. If no node had as much before, all jobs are ranked again.
func (e *Engine) widenPool(p *pool, has job.Vector) {
	if unit := p.Unit.Max(has); unit != p.Unit {
		p.Unit = unit
		e.rerank(p)
	}
}

// rerank ranks all jobs of the pool again.
func (e *Engine) rerank(p *pool) {
	moved := false
	for _, j := range p.active {
		was := j.Rank
		j.setUrgency(e.now)
		j.Rank = p.Rank(&j.Job)
		moved = moved || j.Rank != was
	}
	if moved {
		e.scarceMoved()
		p.Reorder()
		e.changed(p)
	}
}
