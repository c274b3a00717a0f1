package straggler

import (
	"time"

	"berth/internal/job"
)

// Interval is the time between two looks at the running attempts of a job (paper no2-outliers, section 6).
const Interval = 3 * time.Second

// View is what a rule is shown: the tasks of one kind of one job at one instant.
type View struct {
	Now      job.Time
	Interval time.Duration // since the look before this one
	Running  []Running     // all live attempts, also duplicates, by task and number
	Past     *Past         // the attempts that were done, and the curves of earlier runs; not nil
	Ready    int           // tasks that wait for a place: begun never, or to be begun again
	Left     int           // tasks that are not done; those that run included
	Rooms    []Room        // where one more attempt would find its place now; no node that is suspected
	Places   int           // attempts of this kind that fit all nodes of the job at once, whoever has the places now
	Cores    float64       // that one attempt holds while it computes; at least 1 where nothing is known
	// Mean is how long a task is taken to last where Budget was reckoned.
	Mean time.Duration
	// Budget is the core time that further duplicates may take, by the job's bound on extra processor time. What the
	// duplicates that run now have taken is subtracted already; what they are yet to take is not.
	Budget time.Duration
	// Duplicate and Abort say what may be done to attempts of this job. Where neither may, verdicts are only told.
	Duplicate, Abort bool
}

// Running is an attempt that runs.
type Running struct {
	Attempt    job.Attempt
	Node       job.NodeID
	Began      job.Time
	Duplicate  bool   // it was begun because another attempt of its task was late
	Duplicates int    // other attempts of its task that run, or that are to begin
	Track      *Track // its progress since it began; nil: none was told yet
}

// Age returns how long the attempt has run at an instant.
func (r *Running) Age(now job.Time) time.Duration { return max(now.Sub(r.Began), 0) }

// Room is a node where attempts could begin.
type Room struct {
	Node   job.NodeID
	Places int // how many
}

// elsewhere returns how many attempts could begin on other nodes than that.
func (v *View) elsewhere(node job.NodeID) (places int) {
	for _, r := range v.Rooms {
		if r.Node != node {
			places += r.Places
		}
	}
	return places
}
