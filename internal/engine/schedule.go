package engine

import (
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/sched"
)

// schedule starts what the pool's policy says is to start.
func (e *Engine) schedule(p *pool) {
	for {
		d := p.Policy.Select(&p.Pool, e.now)
		switch c := d.Candidate; {
		case c == nil:
			if p.Freed() {
				e.mark(p)
			}
			return
		case d.Node == nil:
			for _, r := range d.End {
				e.kill(e.find(r.ID), "its memory is needed for a "+c.Kind.String()+" that comes first")
			}
		case c.Running != nil:
			e.emit(event.LeaveGranted{Attempt: c.Running.ID, Phase: c.Through})
			e.do(Leave{Attempt: c.Running.ID, Node: e.nodeList[d.Node.Index].id, Phase: c.Through})
		default:
			e.start(c, e.nodeList[d.Node.Index], d.Avoided)
		}
	}
}

// start starts a task of the candidate on the node. avoided says that the next task to be
// started again should rather not run there.
func (e *Engine) start(c *sched.Candidate, n *node, avoided bool) {
	j := c.Job.Owner.(*jobState)
	i := j.queues[sched.KindIndex(c.Kind)].pick(avoided)
	id := job.Attempt{Job: j.ID, Task: i, N: int(j.tasks[i].attempt) + 1}
	// A bag task's attempt is the only one of its task, so it need not ask to commit.
	commit := c.Kind == job.BagTask
	e.emit(event.AttemptStarted{Attempt: id, Node: n.id, Leave: c.Through, Commit: commit})
	e.do(Start{Attempt: id, Node: n.id, Leave: c.Through, Commit: commit})
	if c.Kind == job.ReduceTask {
		e.tell(n, j)
	}
}

// enqueue puts the job's candidates where they belong after anything about the job changed.
func (e *Engine) enqueue(j *jobState) {
	p := j.pool
	if p == nil {
		return
	}
	e.review(j)
	j.recount()
	if p.Rerank(&j.Job) {
		e.mark(p)
	}
	for i := range j.queues {
		q, c := &j.queues[i], &j.Begin[i]
		changed := false
		if q.runnable() {
			c.Span, c.Room, c.Avoid = j.waits.span[i], 0, q.avoids()
			if c.Takes.CPUs == 0 && j.Waits {
				c.Room = j.work.Need.Mem
			}
			changed = p.Put(c)
		} else {
			changed = p.Remove(c)
		}
		if changed {
			e.mark(p)
		}
	}
}

// demand finds what the job's tasks take of a node, phase by phase. Its terms may have changed.
func (j *jobState) demand() {
	for i, need := range []job.Resources{j.work.Need, j.work.ReduceNeed} {
		q, c := &j.queues[i], &j.Begin[i]
		q.demand = sched.DemandOf(q.kind, need)
		c.Job, c.Kind, c.Phase = &j.Job, q.kind, q.kind.Phases()[0]
		c.Through = j.pool.Policy.Through(c.Kind, c.Phase)
		c.Takes, c.Peak = q.demand.Most(job.PhaseNone, c.Through), q.demand.Most(job.PhaseNone, job.PhaseReduce)
		j.Left[i].CPUs = need.CPUs
	}
}

// recount counts the job's tasks that have no core yet. Where the output of a map is lost whose reduces
// have one, the map is left.
func (j *jobState) recount() {
	for i, c := range j.counts {
		j.Left[i].Tasks = c.total - c.done - c.failed - c.running + j.Coreless[i]
		j.Left[i].Longest = j.timing[i].longest
	}
	j.Waits = j.counts[0].done < j.counts[0].total
}

// resize takes in that an allocation of the pool has begun or is over. Where the number of the pool's
// cores has doubled or halved, all its jobs are ranked anew. That costs as much as there are jobs.
func (e *Engine) resize(p *pool) {
	cores := 0
	for _, a := range p.allocs {
		if a.up() {
			cores += a.req.Nodes * a.req.PerNode.CPUs
		}
	}
	scale := sched.PoolScale(p.Scale, cores)
	if scale == p.Scale {
		return
	}
	p.Scale = scale
	moved := false
	for _, j := range p.active {
		was := j.Rank
		j.Rank = p.Policy.Rank(&p.Pool, &j.Job)
		moved = moved || j.Rank != was
	}
	if moved {
		p.Reorder()
		e.changed(p)
	}
}
