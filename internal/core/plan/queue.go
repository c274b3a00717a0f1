package plan

import (
	"slices"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// Question is everything that a decision depends on.
type Question struct {
	Now     job.Time
	Snap    cluster.Snapshot
	Spec    *job.Spec
	Counts  Counts
	Profile *predict.Profile // of the application; nil: none
	// Measured are the measurements of this run so far, in addition to the profile; nil: none.
	Measured  *predict.Profile
	Remaining *job.Remaining // the rest of a job that has begun; nil: all of it
	Idle      []job.Live     // of a job that has not begun: idle allocations that will serve it
	Beside    []job.Live     // likewise: those with work of other jobs of the user, on which its tasks start when there is room (Live.Next)
	Checks    []Check        // the batch system's answers to requests of earlier plans
	Past      *starts.Past   // what was seen of the queue's jobs; nil: nothing, so all jobs count up to their limits
	// Brief leaves the outlook and the prediction out of the plan. The requests are the same.
	Brief bool
	Memo  *Memo // of earlier plans with the same profiles; nil: none
	// Own has what is known of tasks with the same needs alone, by the index of the needs (job.Work.NeedsAt); nil: nothing.
	Own []Own
	// LeftOut are the partitions that the job may not use, where its user asked for any (job.Request.Anywhere).
	LeftOut []cluster.LeftOut

	mix    taskMix    // of a part of a job: its tasks that are not done; nil: those of all needs, which are the same
	ahead  []job.Live // of a part: the room that requests of other parts have for it
	allocs *int       // of a part: how many allocations may be requested besides a first one; nil: as the request says
}

// Own is what is known of the durations of tasks with the same needs.
type Own struct {
	Profile  *predict.Profile // of the application that their needs name; nil: none
	Measured *predict.Profile // of this run; nil: nothing
}

// liveAllocations returns the allocations that the job has from the start.
func (q *Question) liveAllocations() []job.Live {
	if q.Remaining != nil {
		return q.Remaining.Live
	}
	return q.Idle
}

// roomFromStart returns the allocations on which a part of a job has room from the start: those of live, and requests of other parts.
func (q *Question) roomFromStart() []job.Live {
	return append(slices.Clip(q.liveAllocations()), q.ahead...)
}

// Check is the batch system's own answer to when a request would begin.
type Check struct {
	Nodes   int
	PerNode job.Resources
	Time    time.Duration
	Start   job.Time
	Refused string // the reason why it would be refused, or empty
	ForTime bool   // that is the wall time
	// Partition is set where the answer says nothing of requests in other partitions.
	Partition string
}

// Outlook is the state of the batch system's queue and the candidates that a plan compared.
type Outlook struct {
	Partition string          `json:"partition"`
	Nodes     int             `json:"nodes"`    // nodes of the partition that could hold a worker of the chosen size
	Timeline  []timeline.Step `json:"timeline"` // number of free nodes as a function of time, in steps from now on
	Slots     []Candidate     `json:"slots"`    // all candidates that were compared, the earliest start first
	// LeftOut are partitions that were asked for and are not compared, with the reason.
	LeftOut []cluster.LeftOut `json:"left_out,omitempty"` // partitions that were asked for and are not compared; may be absent: none
	Expectation
}

// Expectation is the predicted course of the job, in seconds from the plan: from submission, or from the last resume.
type Expectation struct {
	Wait       float64 `json:"wait_s"`       // until the first allocation begins: from submission or the last resume, in `outlook` from now
	Start      float64 `json:"start_s"`      // the predicted start: from there until the first attempt, when workers are ready
	Turnaround float64 `json:"turnaround_s"` // the predicted mean time from there until the job is done; 0: not predicted
}

// Brief returns the outlook without its lists, which are only shown. It accepts nil.
func (o *Outlook) Brief() *Outlook {
	if o == nil {
		return nil
	}
	return &Outlook{Partition: o.Partition, Nodes: o.Nodes, Expectation: o.Expectation}
}

// Turnaround returns the bounds of the predicted turnaround on a batch system, in seconds from now: the bounds of the
// run time after the predicted start of the first task. It is nil where there is no prediction.
func (p *Plan) Turnaround() *predict.Interval {
	if p.Predicted == nil || p.Outlook == nil {
		return nil
	}
	low, high := p.Outlook.Start, p.Outlook.Start
	if p.Start != nil {
		low, high = low+p.Start.Low-p.Outlook.Wait, high+p.Start.High-p.Outlook.Wait
	}
	bounds := roundInterval(predict.Interval{Low: max(0, low) + p.Predicted.Low, Up: high + p.Predicted.Up})
	return &bounds
}
