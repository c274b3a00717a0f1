package sched

import (
	"container/heap"
	"slices"

	"berth/internal/core/job"
)

// A task with an attempt that is too slow starts again on another node: beside that attempt (a duplicate; the first to
// be done wins) or instead of it (it was killed). Such tasks wait in candidates of their own (Tasks.Urgent), as they
// start before all others of all jobs, like the urgency jobs of the paper no2-outliers (section 6), and wait for a healthy
// node where others accept any.
//
// What other jobs lose by that is bounded. A task that starts instead of an attempt takes what that attempt has freed. A
// duplicate starts only within its job's budget, a share of the job's own core time (straggler.View.Allow), or if its
// attempt hangs, and a task has at most three attempts. Nodes are reserved in the line of the jobs: an urgent task takes none
// from a job before its own. Where jobs of several weights share the nodes, its time counts for the weight of its job.

// overtakes reports whether the candidate comes before those of all other jobs that are not urgent. A reduce that would wait for
// maps does not: it could hold the memory of maps of earlier jobs.
func (c *Candidate) overtakes() bool { return c.Urgent && !(c.shuffles() && c.Job.Waits) }

// AddUrgent adds a task that starts again because its attempt on the node with index avoid is too slow. also is the
// node of another attempt, 0 if there is none. A duplicate starts beside such attempts, another task instead of them.
// Tasks with the lowest rank come first. None starts on a suspected or slow node or on the node avoid, except that a
// task without any attempt starts on the node avoid when its penalty has expired, and anywhere if there is no other node.
func (q *Ready) AddUrgent(task, avoid, also, rank int32, duplicate bool) {
	heap.Push(&q.retry, retry{task: task, avoid: avoid, also: also, rank: rank, duplicate: duplicate})
}

// Drop removes all entries of a task.
func (q *Ready) Drop(task int32) {
	q.drop(func(r retry) bool { return r.task == task })
}

// DropDuplicates removes all duplicates that have not started, and reports whether there were any.
func (q *Ready) DropDuplicates() bool {
	return q.drop(func(r retry) bool { return r.duplicate })
}

// drop removes the retries that are not wanted, and reports whether there were any.
func (q *Ready) drop(unwanted func(retry) bool) bool {
	before := len(q.retry)
	if q.retry = slices.DeleteFunc(q.retry, unwanted); len(q.retry) < before {
		heap.Init(&q.retry)
		return true
	}
	return false
}

// WithoutAttempt returns the number of urgent tasks without a running attempt.
func (q *Ready) WithoutAttempt() (n int) {
	for i := range q.retry {
		if !q.retry[i].duplicate {
			n++
		}
	}
	return n
}

// mayBegin reports whether an urgent task may start on the node.
func (r *retry) mayBegin(p *Pool, g *Group, n *Node, now job.Time) bool {
	good := func(m *Node) bool {
		return m.Index != int(r.avoid) && m.Index != int(r.also) && !m.Health.Avoided(now) && m.couldRun(g, now)
	}
	switch {
	case good(n):
		return true
	case r.duplicate:
		return false
	case n.Index == int(r.avoid) && !n.Health.Avoided(now):
		return true // other nodes had their time, and may be full of attempts that never end
	}
	return !slices.ContainsFunc(p.Nodes, good)
}
