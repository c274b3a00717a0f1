package engine

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// Between two short tasks a node would mostly wait for messages. So further tasks of a job with short tasks are sent to
// a node behind the one that starts there. They begin one after another, each with what the one before held, and
// messages and records of all of them go together. A worker returns those that have to wait for much longer than
// expected, and then tasks of that job are sent when they can begin, for a while.

// pauseOfLines is how many tasks are done before others are sent behind one again.
const pauseOfLines = 1000

// sendBehind starts tasks of the candidate behind an attempt that has just started.
func (e *Engine) sendBehind(c *sched.Candidate, n *node, lead *attempt) {
	if lead.job.pool.HeldForGang(&n.Node) {
		return
	}
	for k := e.behind(c, lead.job); k > 0; k-- {
		i, ok := c.Ready.Fresh(n.Host)
		if !ok {
			return
		}
		lead = e.startTask(c, n, i, lead, nil)
	}
}

// behind returns how many of the candidate's tasks may be sent behind one. Near the end of the job there are none, so that all nodes
// are busy to the end.
func (e *Engine) behind(c *sched.Candidate, j *jobState) int {
	w := &j.work
	switch most := e.cfg.Behind; {
	case most == 0, c.Kind != job.BagTask, c.Urgent, c.Uses != "", c.Demand.GPU%job.Milli != 0, c.Through != job.BagTask.Last():
		return 0
	case j.counts[0].done < j.singly, w.Throttle > 0, w.MaxFails >= 0, c.Ready.Count() < 2*most*j.pool.Cores:
		return 0
	}
	mean, ok := j.tasksAlike(int(c.Ready.First())).Left.Measured()
	if !ok {
		return 0
	}
	return min(int(e.cfg.Ahead/max(mean, time.Microsecond)), e.cfg.Behind)
}

// givenBack notes that an attempt of a task was given back before it began.
func (j *jobState) givenBack(task int32) {
	j.singly = j.counts[0].done + pauseOfLines
	if j.unbegun == nil {
		j.unbegun = make(map[int32]int)
	}
	j.unbegun[task]++
}

// onNode returns the running attempt of a task on the node, nil if there is none.
func (j *jobState) onNode(task int, n *node) *attempt {
	if task < 0 || task >= len(j.tasks) {
		return nil
	}
	a := j.firstAttempt(task)
	for a != nil && a.node != n {
		a = a.duplicate
	}
	return a
}

// lineUp puts an attempt that occupies no node yet behind another; nil: it begins at once.
func (a *attempt) lineUp(lead *attempt) {
	if lead == nil || lead.follower != nil {
		return
	}
	a.behind, lead.follower = lead, a
	a.Holds, a.Behind = job.Vector{}, true
}

// leaveLine takes an attempt out of its line, and returns those between which it was.
func (a *attempt) leaveLine() (lead, next *attempt) {
	lead, next = a.behind, a.follower
	a.behind, a.follower = nil, nil
	if lead != nil {
		lead.follower = next
	}
	if next != nil {
		next.behind = lead
	}
	return lead, next
}

// takeOver notes that the attempt before this one has ended, and that it has what that one held.
func (a *attempt) takeOver(at job.Time, holds job.Vector) {
	p := a.job.pool
	p.Vacate(&a.node.Node, &a.Running, 0)
	a.Holds, a.Behind, a.Working = holds, false, at
	p.Occupy(&a.node.Node, &a.Running)
}
