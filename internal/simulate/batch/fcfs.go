package batch

import (
	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// fcfs starts jobs in the order of arrival.
type fcfs struct{ s *System }

func (f *fcfs) submit(job.Time, ID)  {}
func (f *fcfs) cancel(job.Time, ID)  {}
func (f *fcfs) end(job.Time, ID)     {}
func (f *fcfs) resize(job.Time, int) {}
func (f *fcfs) next() job.Time       { return timeline.Never }
func (f *fcfs) planned(ID) job.Time  { return timeline.Never }

func (f *fcfs) start(_ job.Time, ids []ID) []ID {
	free := f.s.free
	for id := range f.s.queue.all(f.s.links) {
		free -= f.s.jobs[id].Nodes
		if free < 0 {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

func (f *fcfs) timeline(now job.Time) *timeline.Timeline { return f.s.runningTimeline(now) }
