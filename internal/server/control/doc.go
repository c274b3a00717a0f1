// Package control is how berth's commands talk to the coordinator: HTTP with JSON
// over a Unix socket in a folder that only the user can enter. It holds the
// messages, the client, and the starting of a coordinator where none runs.
package control

import (
	"berth/internal/core/job"
	"berth/internal/server/leader"
	"berth/internal/server/report"
)

// Version is the control interface's version; commands and coordinator must agree on it.
const Version = 1

// Hello describes the coordinator.
type Hello struct {
	Version   int    `json:"version"`
	PID       int    `json:"pid"`
	Address   string `json:"address"`   // where workers dial
	Jobs      int    `json:"jobs"`      // jobs that are not over
	Nodes     int    `json:"nodes"`     // workers that are connected
	Started   string `json:"started"`   // RFC 3339
	Order     string `json:"order"`     // of jobs that run on the same allocations (sched.Order)
	Scheduler string `json:"scheduler"` // by which tasks and phases are placed (sched.Scheduler)
	// StragglerRule names the rule that says which tasks are slow.
	StragglerRule string         `json:"straggler_rule"`
	Carry         leader.StandIn `json:"carry_on"` // who carries on when no coordinator is left
	StandIn       bool           `json:"stand_in"` // it runs inside a batch job and makes way for a command
	Keep          bool           `json:"keep"`     // allocations are kept when the job that asked for them is done
	// KeepRuns is how many runs the user wants to stay on disk once they are over, AllRuns for all; nil: berth decides.
	KeepRuns *int `json:"keep_runs,omitempty"`
}

// Server is what commands tell of the coordinator.
type Server struct {
	Running bool `json:"running"`
	Hello
	// There is the stand-in that runs on another machine, nil where none does.
	There  *leader.Owner `json:"stand_in_elsewhere,omitempty"`
	Chosen leader.Choice `json:"chosen"` // goes for the next coordinator, too
}

// Submit asks for a run whose folder is complete to be taken on.
type Submit struct {
	ID job.ID `json:"id"`
	// Env is the environment in which the command reached the place that the run is planned for.
	Env []string `json:"env,omitempty"`
}

// Cancel asks for a job to be stopped.
type Cancel struct {
	Reason string `json:"reason"`
}

// Resume asks for a job that is over to go on.
type Resume struct {
	Failed bool     `json:"failed"`        // its failed tasks are tried anew, too
	Env    []string `json:"env,omitempty"` // as in Submit
}

// Explanation says why a job is where it is, a line for each reason.
type Explanation struct {
	Lines []string `json:"lines"`
}

// Jobs lists jobs, newest last.
type Jobs struct {
	Jobs []report.JobView `json:"jobs"`
}

// Idle lists the allocations of batch systems that wait for work, oldest first.
type Idle struct {
	Allocs []job.Live `json:"allocs"`
}

// Failure returns how an error is told to another process: its words, without its cause.
func Failure(err error) *job.Error {
	if e, ok := err.(*job.Error); ok && e.Err == nil {
		return e
	}
	return &job.Error{Class: job.ClassOf(err), Code: job.CodeOf(err), What: err.Error()}
}

// Watched is one line of a watch: the job as it is now. The last one has Final set.
type Watched struct {
	View  report.JobView `json:"view"`
	Final bool           `json:"final,omitempty"`
	Error *job.Error     `json:"error,omitempty"` // the coordinator cannot go on
}

// AllRuns, as the number of runs that stay on disk, has all stay.
const AllRuns = 0
