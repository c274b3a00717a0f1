package starts

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// Job is what a batch system knows of a job before it runs.
type Job struct {
	User  int32 // number of the user; below 0: unknown
	Nodes int32
	Limit time.Duration // wall time, above 0
}

// Running is a job on nodes.
type Running struct {
	Job
	Start job.Time
}

// Queue is the state of a batch system at an instant.
type Queue struct {
	Now     job.Time
	Nodes   int   // of the cluster
	Part    int32 // number of the partition whose arrivals come; 0: those of all
	Running []Running
	Waiting []Job // the highest priority first
	Closed  []Closed
	Asked   []Asked
	Own     int // number of the waiting jobs, the last ones, that run to their limits: requests that whoever asks would make
	Depth   int // number of waiting jobs for which nodes are reserved, the highest priority first; 0: of one, below 0: of none
}

// Asked is a waiting request of whoever asks.
type Asked struct {
	Alloc job.AllocID
	Place int // among those that wait, the first being 0
}

// Place returns the place of a request among those that wait; false if it is not among them.
func (q *Queue) Place(id job.AllocID) (int, bool) {
	for _, a := range q.Asked {
		if a.Alloc == id {
			return a.Place, true
		}
	}
	return 0, false
}

// deepest bounds the reservations that are simulated, and so does the number of waiting jobs times that of reservations: those of jobs
// further back, and in long queues, are mostly so late that they keep nobody from starting now.
const deepest, mostPlanned = 16, 900

func (q *Queue) depth() int {
	if q.Depth == 0 {
		return 1
	}
	return max(0, min(q.Depth, deepest, max(1, mostPlanned/max(1, len(q.Waiting)))))
}

// Closed is a number of nodes that no job may use for a time, because they are reserved.
type Closed struct {
	From, To job.Time // not before now; timeline.Never: no end
	Nodes    int32
}

// Future says how long jobs will run and who else will come. Run times are cut at the limits.
type Future interface {
	Running(i int) time.Duration // run time, from its start on, of the running job i
	Waiting(i int) time.Duration // run time of the waiting job i
	// Arrival returns the k-th job that comes, and its run time. They come in the order of time; ok is false after the last.
	Arrival(k int) (at job.Time, j Job, run time.Duration, ok bool)
}

// limit returns when a running job will reach its limit.
func (q *Queue) limit(r *Running) job.Time {
	if at := timeline.After(r.Start, r.Limit); at > q.Now {
		return at
	}
	return q.Now.Add(grace)
}

// ends returns the ends of the running jobs and of the present reserved times, which count as jobs after these, in the order of time: as they
// will be, or without a Future by limits.
func (q *Queue) ends(f Future) []entry {
	all := make([]entry, 0, len(q.Running)+len(q.Closed))
	for i := range q.Running {
		r := &q.Running[i]
		at := q.limit(r)
		if f != nil {
			at = min(max(timeline.After(r.Start, f.Running(i)), q.Now+1), at)
		}
		all = append(all, entry{at, r.Nodes, int32(i)})
	}
	for i, x := range q.Closed {
		if x.From <= q.Now && x.To > q.Now {
			all = append(all, entry{x.To, x.Nodes, int32(len(q.Running) + i)})
		}
	}
	return inTime(all)
}
