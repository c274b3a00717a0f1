package job

import (
	"cmp"
	"time"
)

// Remaining is the part of a job that is not done, for which the engine requests a new plan; Answer is that plan.
// The engine does not import the planner and the planner does not import the engine, so both types are here.
// On one machine only the numbers of tasks matter.
type Remaining struct {
	Tasks, Reduces int           // bag tasks or maps, and reduces, that are not done, running ones included
	CutShort       time.Duration // longest run time of an attempt that ended with its allocation: a shorter wall time is not enough
	Kept           time.Duration // time that tasks which are not done have worked in attempts that asked for another one, summed
	Span           time.Duration // wall time that must be left in an allocation when the next task begins; 0: unknown
	Width          int           // how many of the tasks can run at once, as some come after others; 0: all
	Path           int           // how many of the tasks come one after the other at most; 0: unknown
	StartUp        time.Duration // time from the start of an allocation until its first node is ready, as measured; 0: unknown
	// Needs has the tasks that are not done by their needs, by their index (Work.NeedsAt).
	Needs []NeedsLeft
	Live  []Live // the job's allocations, running or requested
	Anew  bool   // the plan before this one requested nothing that serves the tasks that are Unserved: no present allocation counts for them
}

// Live is an allocation that runs or was requested.
type Live struct {
	ID      AllocID      `json:"id"`
	Request AllocRequest `json:"request"`
	Began   Time         `json:"began_ns"`           // 0: it waits in the queue
	Ends    Time         `json:"ends_ns"`            // 0: unknown, or it has no end
	Start   Time         `json:"start_ns,omitempty"` // predicted begin of an allocation that waits; 0: unknown
	// Of one that is shown to jobs that come: Busy if it has work, and when a task of another job could start there (Next) and it is expected
	// to be given back (Free); 0: unknown. Over: it has been given back, and the batch system may still count it.
	Busy bool `json:"busy,omitempty"`
	Next Time `json:"next_ns,omitempty"`
	Free Time `json:"free_ns,omitempty"`
	Over bool `json:"over,omitempty"`
}

// Begins returns when the allocation began or is predicted to begin; 0: unknown.
func (l *Live) Begins() Time { return cmp.Or(l.Began, l.Start, l.Request.Start) }

// Answer is the new plan for the rest of a job.
type Answer struct {
	Allocs   []AllocRequest // further allocations to request; none: the present ones finish the job soonest
	Scout    int            // number of finished tasks after which the job is planned again; 0: it is not planned again
	Decision string         // the decision in one line, for people
	Turnaround
	TaskTimes
	// Failed is the reason why there is no plan, or empty. If Retry is set, the engine asks again
	// at that time; otherwise the job fails.
	Failed string
	Retry  Time
}

// Turnaround is the predicted time from a plan to the end of the job; 0: no prediction.
type Turnaround struct {
	Low  time.Duration `msgpack:"tl,omitempty"`
	Up   time.Duration `msgpack:"tu,omitempty"`
	Mean time.Duration `msgpack:"tm,omitempty"`
}
