package engine

import (
	"container/heap"

	"berth/internal/job"
	"berth/internal/sched"
)

// queue holds the ready tasks of one kind of a job: those that never started, as a
// cursor over their indices, and those that are to be started again, as a heap.
type queue struct {
	job       *jobState
	kind      job.TaskKind
	next, end int32 // tasks next…end−1 never started
	retry     retries
	demand    sched.Demand
}

// retry is a task that is to be started again, if possible on another node.
type retry struct {
	task, avoid int32
	cut         bool // see task.cut
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

func (q *queue) ready() int { return len(q.retry) + int(q.end-q.next) }

// runnable reports whether any of its tasks may start now.
func (q *queue) runnable() bool {
	j := q.job
	w, maps := &j.work, &j.counts[0]
	switch {
	case !j.active() || q.ready() == 0 || j.unfinished() == 0:
		return false
	case q.kind == job.ReduceTask:
		return maps.done >= sched.SlowStart(maps.total, w.SlowStart)
	}
	return w.Throttle == 0 || maps.running < w.Throttle
}

// again puts a task into the queue that has been started before.
func (q *queue) again(task, avoid int32) {
	heap.Push(&q.retry, retry{task, avoid, q.job.tasks[task].cut})
}

// again has a task started again, if possible not on the node with the index avoid.
func (j *jobState) again(i int, avoid int32) { j.queues[j.class(i)].again(int32(i), avoid) }

// cutOnly reports whether all its ready tasks were cut short before.
func (q *queue) cutOnly() bool { return q.next >= q.end && len(q.retry) > 0 && q.retry[0].cut }

// pick returns the task to start: one to be started again before one that never
// started, unless it should rather not run on the node.
func (q *queue) pick(avoided bool) int {
	fresh := q.next < q.end
	if len(q.retry) > 0 && (!fresh || !avoided && !q.retry[0].cut) {
		return int(q.retry[0].task)
	}
	return int(q.next)
}

// avoids returns the index of the node on which the next task should rather not run, 0 for none.
func (q *queue) avoids() int {
	if len(q.retry) > 0 && (q.next >= q.end || !q.retry[0].cut) {
		return int(q.retry[0].avoid)
	}
	return 0
}

// take removes a ready task. Any can be taken, as a journal may tell of a scheduler
// that chose otherwise.
func (q *queue) take(task int32) {
	if task >= q.next {
		for ; q.next < task; q.next++ {
			q.again(q.next, 0)
		}
		q.next++
		return
	}
	for i := range q.retry { // the first, but for such journals and results that come late
		if q.retry[i].task == task {
			heap.Remove(&q.retry, i)
			return
		}
	}
}
