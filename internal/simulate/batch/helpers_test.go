package batch

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
	"berth/internal/simulate/workload"
)

// after returns the instant d after t, or Never if there is none.
func after(t job.Time, d time.Duration) job.Time { return timeline.After(t, d) }

// Replay runs rigid jobs, in the order of their Submit, through a batch system and returns their
// starts. A job ends after its Run or its Request, whichever is shorter. Every job must fit the
// cluster.
func Replay(nodes int, p Policy, jobs []workload.Rigid) []job.Time {
	s := New(nodes, p)
	s.jobs = make([]tracked, 0, len(jobs))
	starts := make([]job.Time, len(jobs))
	var ends heap[job.Time]
	var ids []ID
	arrived := 0
	for arrived < len(jobs) || len(ends) > 0 || len(s.queue) > 0 {
		now := s.Next()
		if arrived < len(jobs) {
			now = min(now, jobs[arrived].Submit)
		}
		if len(ends) > 0 {
			now = min(now, ends[0].key)
		}
		if now == timeline.Never {
			panic("batch: jobs wait and nothing is to happen")
		}
		for len(ends) > 0 && ends[0].key == now {
			s.End(now, ID(ends.pop()))
		}
		for ; arrived < len(jobs) && jobs[arrived].Submit == now; arrived++ {
			s.Submit(now, ID(arrived), jobs[arrived].Nodes, jobs[arrived].Request)
		}
		ids = s.Start(now, ids[:0])
		for _, id := range ids {
			starts[id] = now
			ends.push(now.Add(min(jobs[id].Run, jobs[id].Request)), int32(id))
		}
	}
	return starts
}
