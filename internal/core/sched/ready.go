package sched

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// Ready holds the ready tasks of a job with equal needs: those that never started, in the order of their indices, and those
// that start again. A task that never started may start before its turn on a node that has its data, see Near.
type Ready struct {
	fresh  IndexSet // the tasks that never started …
	count  int32    // … their number …
	next   int32    // … and the first of them, if there is one
	marked int      // number of tasks in retry that have failed on a node, see Retry
	retry  retries
	near   map[string][]*pile // by host: the tasks whose data it has, maybe repeatedly; "": those whose data no host had at first
	of     map[int32]*pile    // by task: those of near[""]
}

// retry is a task that starts again, if possible on another node.
type retry struct {
	task, avoid int32
	cut         bool    // the end of its allocation cut it short
	duplicate   bool    // it starts beside a running attempt, see AddUrgent
	rank        int32   // of urgent tasks: the lowest first
	also        int32   // another node to avoid; 0: none
	failed      []int32 // nodes on which it has failed, see Ready.Retry
}

// retries is a heap of retries, the lowest rank first, then the lowest task; tasks that were cut short come last, as they need more time
// than the others.
type retries []retry

func (h retries) Len() int { return len(h) }
func (h retries) Less(i, j int) bool {
	if h[i].cut != h[j].cut {
		return h[j].cut
	}
	return cmp.Or(cmp.Compare(h[i].rank, h[j].rank), cmp.Compare(h[i].task, h[j].task)) < 0
}
func (h retries) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *retries) Push(x any)   { *h = append(*h, x.(retry)) }
func (h *retries) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}

// Extend adds the tasks from the first up to the last. They follow all that the job had, of which others may have other needs.
func (q *Ready) Extend(first, last int32) {
	if q.count == 0 {
		q.next = first
	}
	q.count += last + 1 - first
	q.fresh.AddRange(int(first), int(last))
}

// Count returns the number of ready tasks.
func (q *Ready) Count() int { return len(q.retry) + int(q.count) }

// String returns a text that differs if the ready tasks differ.
func (q *Ready) String() string {
	again := slices.SortedFunc(slices.Values(q.retry), func(a, b retry) int { return cmp.Compare(a.task, b.task) })
	return fmt.Sprintf("%d never started: %v, again %v", q.count, q.fresh, again)
}

// Retry adds a task that was started before. If another node is free it does not start on the node with index
// avoid. It starts on a node on which it has failed only if no other could run it, even later or when it comes. cut says that the end of its
// allocation cut it short.
func (q *Ready) Retry(task, avoid int32, cut bool, failed []int32) {
	heap.Push(&q.retry, retry{task: task, avoid: avoid, cut: cut, failed: failed})
	if len(failed) > 0 {
		q.marked++
	}
}

// Choosy reports whether each of the ready tasks has failed on some node, so that a node with room may be none for them.
func (q *Ready) Choosy() bool { return q.count == 0 && q.marked > 0 && q.marked == len(q.retry) }

// startableRetry returns the index of the first retry that may start, −1 if there is none; may nil: all may.
func (q *Ready) startableRetry(may func(*retry) bool) int {
	best := -1
	for i := range q.retry {
		if (best < 0 || q.retry.Less(i, best)) && (may == nil || may(&q.retry[i])) {
			if best = i; i == 0 {
				break // the heap begins with the first of all
			}
		}
	}
	return best
}

// CutOnly reports whether all ready tasks were cut short before.
func (q *Ready) CutOnly() bool { return q.count == 0 && len(q.retry) > 0 && q.retry[0].cut }

// pickTask returns the task to start on the host: a retry before a task that never started, unless the node is to be avoided for it; among tasks
// that never started first one that has its data on the host, then one whose data no host has. may says which retries may start there, see
// again. If there is no other task, one of them may.
func (q *Ready) pickTask(avoided bool, host string, may func(*retry) bool) int {
	if i := q.startableRetry(may); i >= 0 && (q.count == 0 || !avoided && !q.retry[i].cut) {
		return int(q.retry[i].task)
	}
	if task, ok := q.Local(host); ok {
		return int(task)
	}
	if task, ok := q.Local(""); ok {
		return int(task)
	}
	return int(q.next)
}

// Fresh returns the next task for the host, false if none is ready or one of them was started before.
func (q *Ready) Fresh(host string) (task int, ok bool) {
	if len(q.retry) > 0 || q.count == 0 {
		return 0, false
	}
	return q.pickTask(false, host, nil), true
}

// First returns the first task in line, 0 if none is ready.
func (q *Ready) First() int32 {
	switch {
	case len(q.retry) > 0:
		return q.retry[0].task
	case q.count > 0:
		return q.next
	}
	return 0
}

// avoids returns the index of the node that the next task should avoid, 0 for none.
func (q *Ready) avoids() int {
	if len(q.retry) > 0 && (q.count == 0 || !q.retry[0].cut) {
		return int(q.retry[0].avoid)
	}
	return 0
}

// Take removes a task, which may be any of the ready ones.
func (q *Ready) Take(task int32) {
	if q.fresh.Has(int(task)) {
		q.fresh.Remove(int(task))
		if q.count--; q.count > 0 && task == q.next {
			q.next = int32(q.fresh.From(int(task)))
		}
		return
	}
	// It is the first, except with journals of other schedulers and results that come late.
	if i := slices.IndexFunc(q.retry, func(r retry) bool { return r.task == task }); i >= 0 {
		if len(q.retry[i].failed) > 0 {
			q.marked--
		}
		heap.Remove(&q.retry, i)
	}
}
