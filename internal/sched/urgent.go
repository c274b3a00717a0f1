package sched

import (
	"container/heap"
	"slices"

	"berth/internal/job"
)

// Tasks with an attempt that is too slow are begun anew on another node: beside that attempt (a duplicate, the first to
// be done wins) or instead of it (it was killed). They wait in candidates of their own (Job.Urgent), as they
// begin before all others of their job, and wait for a good node where others take any.

// AddUrgent puts a task in that is to begin anew because its attempt on the node of the index avoid is too slow. also is the node of
// another attempt, 0 if there is none. A duplicate begins beside such attempts; another task begins instead of them. Those with the lowest rank come first. None begins on a
// node that is suspected or slow or is the one to be avoided; but where there is no other, a task that has no
// attempt any more begins even there.
func (q *Ready) AddUrgent(task, avoid, also, rank int32, duplicate bool) {
	heap.Push(&q.retry, retry{task: task, avoid: avoid, also: also, rank: rank, duplicate: duplicate})
}

// Drop takes a task out, however often it is in.
func (q *Ready) Drop(task int32) {
	if before := len(q.retry); before > 0 {
		q.retry = slices.DeleteFunc(q.retry, func(r retry) bool { return r.task == task })
		if len(q.retry) < before {
			heap.Init(&q.retry)
		}
	}
}

// DropDuplicates takes out all duplicates that have not begun.
func (q *Ready) DropDuplicates() {
	q.retry = slices.DeleteFunc(q.retry, func(r retry) bool { return r.duplicate })
	heap.Init(&q.retry)
}

// Alone returns the number of urgent tasks that have no attempt any more.
func (q *Ready) Alone() (n int) {
	for i := range q.retry {
		if !q.retry[i].duplicate {
			n++
		}
	}
	return n
}

// urgentFor returns the first of the class's urgent tasks that may begin on the node; ok is false where none may.
func (c *Class) urgentFor(p *Pool, n *Node, now job.Time) (task int, ok bool) {
	waiting, best := c.line[0].Ready.retry, -1
	for i := range waiting {
		if (best < 0 || waiting.Less(i, best)) && waiting[i].mayBegin(p, c, n, now) {
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	return int(waiting[best].task), true
}

func (c *Class) mayUrge(p *Pool, n *Node, now job.Time) bool {
	_, ok := c.urgentFor(p, n, now)
	return ok
}

func (r *retry) mayBegin(p *Pool, c *Class, n *Node, now job.Time) bool {
	good := func(m *Node) bool {
		return m.Index != int(r.avoid) && m.Index != int(r.also) && !m.Health.Avoided(now) && m.couldTake(c, now)
	}
	return good(n) || !r.duplicate && !slices.ContainsFunc(p.Nodes, good)
}
