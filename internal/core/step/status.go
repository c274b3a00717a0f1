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
