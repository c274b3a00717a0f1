package engine

import (
	"container/heap"
	"time"

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

	class *class // in which it waits; nil when none of its tasks may start now
	pos   int    // in class.line
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

func (q *queue) claim() sched.Claim { return sched.Claim{Place: q.job.place, Kind: q.kind} }

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

// class is the line of queues whose tasks need the same of a node.
type class struct {
	key  classKey
	line queues
	// blocked says that no node had room for the class when last looked, so only nodes
	// with something freed since need a look.
	blocked bool
	tried   bool // no room was found in the pass under way
	// hopeless says that no node of an elastic pool could take one, were it empty: all are
	// too small or have too little time. Nodes that come unblock the class.
	hopeless bool
	// room is the memory that its shuffles leave to tasks of earlier jobs that found no
	// room (class.wantsRoom), in bytes, when last looked.
	room int64
}

type classKey struct {
	kind job.TaskKind
	need job.Resources
	room int64         // bytes that shuffles leave free, see sched.Node.AdmitsShuffle
	span time.Duration // that must be left on a node of an elastic allocation, see sched.Span
}

// takes returns what a task of the class takes of its node when it starts.
func (c *class) takes() job.Resources {
	return sched.Holds(c.key.kind, sched.FirstLeave(c.key.kind), c.key.need)
}

// queues is a heap of queues, first in line first.
type queues []*queue

func (h queues) Len() int           { return len(h) }
func (h queues) Less(i, j int) bool { return h[i].claim().Before(h[j].claim()) }
func (h queues) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i, j
}
func (h *queues) Push(x any) {
	q := x.(*queue)
	q.pos = len(*h)
	*h = append(*h, q)
}
func (h *queues) Pop() any {
	q := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return q
}
