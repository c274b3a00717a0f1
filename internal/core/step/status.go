package step

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Tally counts the tasks of a job of one kind. Tasks that are in Total and in no other number wait.
type Tally struct{ Total, Running, Done, Failed int }

// JobStatus is the state of a job and its tasks.
type JobStatus struct {
	ID      job.ID
	Name    string
	Kind    job.Kind
	State   event.State
	Code    job.Code // the reason of its end, for Failed and Cancelled
	Reason  string
	Tasks   Tally // bag tasks or maps
	Reduces Tally
	Alloc   job.AllocRequest // its shape

	Submitted, Started, Ended job.Time // 0: not yet. Started belongs to the last run; Ended is final until a resume
}

// AllocStatus is an allocation that is not over.
type AllocStatus struct {
	ID        job.AllocID
	Request   job.AllocRequest
	Requested job.Time
	Joined    int  // number of nodes that have ever been up
	Idle      bool // no remaining job can run on it

	Job   job.ID   // the job for which it was requested; empty: all jobs of its shape
	Begun bool     // the batch system has started it, or a node is up
	Began job.Time // … since then
	Ends  job.Time // end of its wall time; 0: it has no end, or has not begun
	Note  string   // while it waits: the reason, by the batch system
	Start job.Time // while it waits: the start that the batch system or else the plan expects; 0: unknown
}
