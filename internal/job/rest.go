package job

import (
	"cmp"
	"time"
)

// The engine has what is left of a job planned anew: Rest is what it asks with, Answer is what it is
// told. It knows no plan and a plan knows no engine; both know these values.

// Rest is what is left of a job that has begun. On one machine only the numbers of tasks matter.
type Rest struct {
	Tasks, Reduces int           // bag tasks or maps, and reduces, that are not done; those running count
	CutShort       time.Duration // the longest that an attempt had run when its allocation ended under it: less time is of no use
	Span           time.Duration // that an allocation must have left where the next of them begins; 0: unknown
	StartUp        time.Duration // of its wall time that an allocation lasted before a node was up, by those that began; 0: unknown
	Live           []Live        // allocations that serve the job, there or asked for
}

// Live is an allocation that is there or was asked for.
type Live struct {
	ID      AllocID      `json:"id"`
	Request AllocRequest `json:"request"`
	Began   Time         `json:"began_ns"`           // 0: it waits
	Ends    Time         `json:"ends_ns"`            // 0: unknown, or it has no end
	Start   Time         `json:"start_ns,omitempty"` // while it waits: when it is expected to begin; 0: unknown
}

// Begins returns when the allocation began, or else is expected to; 0: unknown.
func (l *Live) Begins() Time { return cmp.Or(l.Began, l.Start, l.Request.Start) }

// Answer is what came of a plan of what is left of a job.
type Answer struct {
	Allocs   []AllocRequest // to be asked for beside those that are there; none: these finish it soonest
	Scout    int            // it is planned anew once so many tasks are done; 0: no need
	Decision string         // one line for people
	TaskTimes
	// Failed says why no plan could be made, empty where there is one. With Retry the
	// engine asks again at that time; without, the job fails.
	Failed string
	Retry  Time
}
