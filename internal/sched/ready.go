package sched

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// Ready holds the ready tasks of one kind of a job: those that never started, as a cursor over their
// indices, and those that are to be started again, as a heap.
type Ready struct {
	Next, End int32 // tasks Next…End−1 never started
	retry     retries
}

// retry is a task that is to be started again, if possible on another node.
type retry struct {
	task, avoid int32
	cut         bool // the end of its allocation cut it short
}

// retries is a heap of retries, lowest task first; those that were cut short come last,
// as they need more time than the others.
type retries []retry

func (h retries) Len() int { return len(h) }
func (h retries) Less(i, j int) bool {
	if h[i].cut != h[j].cut {
		return h[j].cut
	}
	return h[i].task < h[j].task
}
func (h retries) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *retries) Push(x any)   { *h = append(*h, x.(retry)) }
func (h *retries) Pop() any {
	r := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return r
}

// Count returns the number of ready tasks.
func (q *Ready) Count() int { return len(q.retry) + int(q.End-q.Next) }

// String returns the tasks as text that differs where they do.
func (q *Ready) String() string {
	again := slices.SortedFunc(slices.Values(q.retry), func(a, b retry) int { return cmp.Compare(a.task, b.task) })
	return fmt.Sprintf("next %d end %d again %v", q.Next, q.End, again)
}

// Again puts a task in that has been started before, if possible not to be started on the node of the
// index avoid. cut says that the end of its allocation cut it short.
func (q *Ready) Again(task, avoid int32, cut bool) { heap.Push(&q.retry, retry{task, avoid, cut}) }

// CutOnly reports whether all ready tasks were cut short before.
func (q *Ready) CutOnly() bool { return q.Next >= q.End && len(q.retry) > 0 && q.retry[0].cut }

// pick returns the task to start: one to be started again before one that never
// started, unless it should rather not run on the node.
func (q *Ready) pick(avoided bool) int {
	if len(q.retry) > 0 && (q.Next >= q.End || !avoided && !q.retry[0].cut) {
		return int(q.retry[0].task)
	}
	return int(q.Next)
}

// avoids returns the index of the node on which the next task should rather not run, 0 for none.
func (q *Ready) avoids() int {
	if len(q.retry) > 0 && (q.Next >= q.End || !q.retry[0].cut) {
		return int(q.retry[0].avoid)
	}
	return 0
}

// Take removes a task. Any can be taken, as a journal may tell of a scheduler that chose otherwise.
func (q *Ready) Take(task int32) {
	if task >= q.Next {
		for ; q.Next < task; q.Next++ {
			q.Again(q.Next, 0, false)
		}
		q.Next++
		return
	}
	for i := range q.retry { // the first, but for such journals and results that come late
		if q.retry[i].task == task {
			heap.Remove(&q.retry, i)
			return
		}
	}
}
