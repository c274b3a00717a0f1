package plan

import (
	"time"

	"berth/internal/cluster"
	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
)

// Question is all that a decision depends on.
type Question struct {
	Now     job.Time
	Snap    cluster.Snapshot
	Spec    *job.Spec
	Counts  Counts
	Profile *predict.Profile // of the application; nil: there is none
	// Measured is what this run has shown so far, on top of the profile; nil: nothing.
	Measured *predict.Profile
	Rest     *job.Rest  // what is left of a job that has begun; nil: all of it
	Idle     []job.Live // of a job that has not begun: allocations that wait for work and will serve it
	Checks   []Check    // what the batch system said of requests that were weighed before
	// Brief leaves out of the plan what is there to be told: the outlook and the prediction.
	// What is asked for is the same.
	Brief bool
	Memo  *Memo // of earlier plans, whose profiles have not changed; nil: none
}

// live returns the allocations that the job has from the start.
func (q *Question) live() []job.Live {
	if q.Rest != nil {
		return q.Rest.Live
	}
	return q.Idle
}

// Check is what the batch system itself said of when a request would begin.
type Check struct {
	Nodes   int
	PerNode job.Resources
	Time    time.Duration
	Start   job.Time
	Refused string // why it would not be taken at all; empty: it would
}

// Outlook is what a plan saw of the batch system's queue, and how it chose.
type Outlook struct {
	Partition string          `json:"partition"`
	Nodes     int             `json:"nodes"`    // of the partition that could hold a worker of the chosen size
	Timeline  []timeline.Step `json:"timeline"` // how many of those are free, from now on
	Slots     []Candidate     `json:"slots"`    // every way to go that was weighed, the earliest start first
	Expectation
}

// Expectation is what is expected of the queue, in seconds from the plan on: from submission, or
// from the last resume.
type Expectation struct {
	Wait       float64 `json:"wait_s"`       // until the first allocation begins
	Start      float64 `json:"start_s"`      // until the first task starts, as the allocation's workers are ready
	Turnaround float64 `json:"turnaround_s"` // until the job is done, on average; 0: no prediction
}

// Brief returns the outlook without its lists, which are only shown. It may be nil.
func (o *Outlook) Brief() *Outlook {
	if o == nil {
		return nil
	}
	return &Outlook{Partition: o.Partition, Nodes: o.Nodes, Expectation: o.Expectation}
}

// Turnaround returns the bounds of the predicted turnaround on a batch system, in seconds
// from now until the job is done: those of the run time after the predicted start of the
// first task. It is nil where there is no prediction.
func (p *Plan) Turnaround() *predict.Interval {
	if p.Predicted == nil || p.Outlook == nil {
		return nil
	}
	return &predict.Interval{Low: p.Outlook.Start + p.Predicted.Low, Up: p.Outlook.Start + p.Predicted.Up}
}
