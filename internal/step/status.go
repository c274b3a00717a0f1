package step

import (
	"berth/internal/event"
	"berth/internal/job"
)

// Tally counts the tasks of a job of one kind. Tasks in none of the numbers but Total wait.
type Tally struct{ Total, Running, Done, Failed int }

// JobStatus is where a job stands.
type JobStatus struct {
	ID      job.ID
	Name    string
	Kind    job.Kind
	State   event.State
	Code    job.Code // why it ended, for Failed and Cancelled
	Reason  string
	Tasks   Tally // bag tasks or maps
	Reduces Tally
	Alloc   job.AllocRequest // the shape it runs on

	Submitted, Started, Ended job.Time // 0: not yet. Started is of the last run, Ended final until a resume
}

// AllocStatus is an allocation that is not over.
type AllocStatus struct {
	ID        job.AllocID
	Request   job.AllocRequest
	Requested job.Time
	Joined    int  // nodes that have ever been up
	Idle      bool // no job is left that could run on it

	Job   job.ID   // whom it was asked for; empty: all jobs of its shape
	Begun bool     // the batch system has started it, or a node is up
	Began job.Time // … then
	Ends  job.Time // when its time is over; 0: it has no end, or has not begun
	Note  string   // while it waits: for what, by the batch system
	Start job.Time // while it waits: when it is expected to begin, by the batch system or else the plan; 0: unknown
}
