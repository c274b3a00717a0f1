// Package replay runs logs of rigid jobs through a simulated batch system.
package replay

import (
	"container/heap"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

// Run runs rigid jobs, in the order of their Submit, through a batch system and returns their
// starts. A job ends after its Run or its Request, whichever is shorter. Every job must fit the
// cluster.
func Run(nodes int, p batch.Policy, jobs []workload.Rigid) []job.Time {
	s := batch.New(nodes, p)
	starts := make([]job.Time, len(jobs))
	var ends ends
	var ids []batch.ID
	arrived, left := 0, len(jobs)
	for left > 0 {
		now := s.Next()
		if arrived < len(jobs) {
			now = min(now, jobs[arrived].Submit)
		}
		if len(ends) > 0 {
			now = min(now, ends[0].at)
		}
		if now == timeline.Never {
			panic("replay: jobs wait and nothing is to happen")
		}
		for len(ends) > 0 && ends[0].at == now {
			s.End(now, heap.Pop(&ends).(end).id)
			left--
		}
		for ; arrived < len(jobs) && jobs[arrived].Submit == now; arrived++ {
			s.Submit(now, batch.ID(arrived), jobs[arrived].Nodes, jobs[arrived].Request)
		}
		ids = s.Start(now, ids[:0])
		for _, id := range ids {
			starts[id] = now
			heap.Push(&ends, end{now.Add(min(jobs[id].Run, jobs[id].Request)), id})
		}
	}
	return starts
}

// end is the end of a job.
type end struct {
	at job.Time
	id batch.ID
}

// ends is a heap of ends, in the order of time and then of jobs.
type ends []end

func (e ends) Len() int { return len(e) }
func (e ends) Less(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].id < e[k].id
}
func (e ends) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *ends) Push(x any)   { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
