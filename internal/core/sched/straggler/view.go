package straggler

import (
	"time"

	"berth/internal/core/job"
)

// Interval is the time between two assessments of the running attempts of a job (paper no2-outliers, section 6).
const Interval = 3 * time.Second

// View describes the tasks of one kind of one job at one instant.
type View struct {
	Now       job.Time
	Interval  time.Duration // since the previous View
	Running   []Running     // all running attempts, duplicates included, by task and number
	Past      *Past         // attempts that were done, and the curves of earlier runs; not nil
	Ready     int           // tasks that wait for a slot, to start for the first time or again
	Left      int           // tasks that are not done, running ones included
	FreeSlots []FreeSlot    // nodes, none of them suspected, on which another attempt could start now
	Slots     int           // attempts of this kind that fit all nodes of the job at once, whoever uses them now
	Cores     float64       // cores that one attempt holds while it computes; at least 1 if unknown
	// Mean is the expected duration of a task from which Budget was computed.
	Mean time.Duration
	// Budget is the core time that further duplicates may take, by the job's bound on extra processor time. What the
	// running duplicates have taken is subtracted; what they will still take is not.
	Budget time.Duration
	// Duplicate and Abort say which actions the job allows. If it allows none, verdicts are only reported.
	Duplicate, Abort bool
}

// Running is a running attempt.
type Running struct {
	Attempt    job.Attempt
	Node       job.NodeID
	Began      job.Time
	Duplicate  bool   // it was started because another attempt of its task was late
	Duplicates int    // other attempts of its task that run or are requested
	Track      *Track // its progress since it started; nil: none was reported yet
}

// Age returns how long the attempt has run at an instant.
func (r *Running) Age(now job.Time) time.Duration { return max(now.Sub(r.Began), 0) }

// FreeSlot is a node on which attempts could start.
type FreeSlot struct {
	Node  job.NodeID
	Count int // number of attempts
}

// elsewhere returns how many attempts could start on other nodes than that.
func (v *View) elsewhere(node job.NodeID) (places int) {
	for _, r := range v.FreeSlots {
		if r.Node != node {
			places += r.Count
		}
	}
	return places
}
