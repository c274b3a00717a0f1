package sched

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"berth/internal/job"
)

// Ready holds the ready tasks of one kind of a job: those that never started, as a cursor over their
// indices, and those that are to be started again, as a heap. Of the former one starts before its turn on a node that has its data.
type Ready struct {
	Next, End int32 // tasks Next…End−1 never started, but for those of early; Next is none of them
	early     []uint64
	ahead     int32 // number of tasks of early
	retry     retries
	near      map[string][]int32 // tasks by the hosts that have their data, in their order; those that started go with time
}

// retry is a task that is to be started again, if possible on another node.
type retry struct {
	task, avoid int32
	cut         bool  // the end of its allocation cut it short
	duplicate   bool  // beside an attempt that runs, see AddUrgent
	rank        int32 // of those that are urgent: the lowest first
	also        int32 // another node to avoid; 0: none
}

// retries is a heap of retries, lowest task first; those that were cut short come last,
// as they need more time than the others.
type retries []retry

func (h retries) Len() int { return len(h) }
func (h retries) Less(i, j int) bool {
	switch {
	case h[i].cut != h[j].cut:
		return h[j].cut
	case h[i].rank != h[j].rank:
		return h[i].rank < h[j].rank
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

// Near takes in where tasks have their data.
func (q *Ready) Near(homes []job.Home) {
	if len(homes) == 0 {
		return
	}
	q.near = make(map[string][]int32, len(homes))
	for _, h := range homes {
		q.near[h.Host] = h.Tasks
	}
}

// has returns the first task that never started and has its data on the host, false if there is none.
func (q *Ready) has(host string) (task int32, ok bool) {
	tasks, ok := q.near[host]
	if !ok {
		return 0, false
	}
	gone := 0
	for gone < len(tasks) && !q.fresh(tasks[gone]) {
		gone++
	}
	if gone == len(tasks) {
		delete(q.near, host)
		return 0, false
	}
	if gone > 0 {
		q.near[host] = tasks[gone:]
	}
	return tasks[gone], true
}

// fresh reports whether a task never started.
func (q *Ready) fresh(task int32) bool { return task >= q.Next && task < q.End && !q.isEarly(task) }

func (q *Ready) isEarly(task int32) bool {
	return q.early != nil && q.early[task/64]&(1<<(task%64)) != 0
}

// Count returns the number of ready tasks.
func (q *Ready) Count() int { return len(q.retry) + int(q.End-q.Next-q.ahead) }

// String returns the tasks as text that differs where they do.
func (q *Ready) String() string {
	var early []int32
	for t := q.Next; t < q.End && q.ahead > 0; t++ {
		if q.isEarly(t) {
			early = append(early, t)
		}
	}
	again := slices.SortedFunc(slices.Values(q.retry), func(a, b retry) int { return cmp.Compare(a.task, b.task) })
	return fmt.Sprintf("next %d end %d early %v again %v", q.Next, q.End, early, again)
}

// Again puts a task in that has been started before, if possible not to be started on the node of the
// index avoid. cut says that the end of its allocation cut it short.
func (q *Ready) Again(task, avoid int32, cut bool) {
	heap.Push(&q.retry, retry{task: task, avoid: avoid, cut: cut})
}

// CutOnly reports whether all ready tasks were cut short before.
func (q *Ready) CutOnly() bool { return q.Next >= q.End && len(q.retry) > 0 && q.retry[0].cut }

// pick returns the task to start on the host: one to be started again before one that never
// started, unless it should rather not run on the node; and of those one that has its data there before the others.
func (q *Ready) pick(avoided bool, host string) int {
	if len(q.retry) > 0 && (q.Next >= q.End || !avoided && !q.retry[0].cut) {
		return int(q.retry[0].task)
	}
	if task, ok := q.has(host); ok {
		return int(task)
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

// Take removes a task. Any can be taken.
func (q *Ready) Take(task int32) {
	switch {
	case task >= q.End:
	case task == q.Next:
		q.Next++
		for ; q.Next < q.End && q.isEarly(q.Next); q.Next++ {
			q.ahead--
		}
	case q.fresh(task):
		if q.early == nil {
			q.early = make([]uint64, q.End/64+1)
		}
		q.early[task/64] |= 1 << (task % 64)
		q.ahead++
	default:
		for i := range q.retry { // the first, but for journals of other schedulers and results that come late
			if q.retry[i].task == task {
				heap.Remove(&q.retry, i)
				return
			}
		}
	}
}
