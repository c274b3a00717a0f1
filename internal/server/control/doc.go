// Package control lets berth's commands talk to the coordinator, by HTTP with JSON over a Unix socket in a folder that
// only the user can enter. It has the messages and the client, and starts a coordinator if none runs.
package control

import (
	"encoding/json"

	"berth/internal/core/job"
	"berth/internal/server/leader"
	"berth/internal/server/report"
)

// Version is the version of the control interface. Commands and coordinator must have the same.
const Version = 1

// Hello describes the coordinator.
type Hello struct {
	Version   int    `json:"version"`
	PID       int    `json:"pid"`
	Address   string `json:"address"`   // the address to which workers connect
	Jobs      int    `json:"jobs"`      // jobs that are not over
	Nodes     int    `json:"nodes"`     // workers that are connected
	Started   string `json:"started"`   // RFC 3339
	Order     string `json:"order"`     // order of jobs on the same allocations (sched.Order)
	Scheduler string `json:"scheduler"` // name of the scheduler (sched.Scheduler)
	// StragglerRule is the name of the rule that finds stragglers.
	StragglerRule string         `json:"straggler_rule"`
	Carry         leader.StandIn `json:"carry_on"`       // which processes may become a stand-in
	StandIn       bool           `json:"stand_in"`       // it runs inside a batch job, and ends when a command asks for it
	Keep          bool           `json:"keep"`           // allocations are kept when the job that requested them is done
	Full          bool           `json:"full,omitempty"` // the disk of the state folder is full: nothing is started or recorded until there is room
	// KeepRuns is the number of runs that stay on disk when they are over, AllRuns for all; nil: berth decides.
	KeepRuns *int `json:"keep_runs,omitempty"`
}

// Server is the description of the coordinator that commands print.
type Server struct {
	Running bool `json:"running"`
	Hello
	// There is the stand-in that runs on another machine, or nil.
	There  *leader.Owner `json:"stand_in_elsewhere,omitempty"`
	Chosen leader.Choice `json:"chosen"` // also applies to the next coordinator
}

// Submit is the request to accept a run whose folder is complete.
type Submit struct {
	ID job.ID `json:"id"`
	// Env is the environment in which the command reached the backend that the run is planned for.
	Env []string `json:"env,omitempty"`
	// First has tasks of an open bag that are added together with the submission: all of them, or the bag is refused. nil: none.
	First *Add `json:"first,omitempty"`
	Close bool `json:"close,omitempty"` // the open bag gets no further tasks
}

// Add is the request to add tasks to an open bag.
type Add struct {
	// Key tells whether the call is one that was made before: its answer is repeated, and nothing is added. Empty: none.
	Key  string `json:"key,omitempty"`
	From string `json:"from,omitempty"` // the name of the input, for errors
	// Tasks has the tasks in the form of lines of berth add --tasks. null stands for an empty line.
	Tasks []json.RawMessage `json:"tasks,omitempty"`
	// Entries has entries for the command of the bag instead, the bytes of their columns in base64.
	Entries [][][]byte `json:"entries,omitempty"`
	// Needs has what the tasks of Entries need that is not as for the bag; as many, or none.
	Needs []job.Needs `json:"needs,omitempty"`
}

// Added is which tasks were added: so many, from the first on.
type Added struct {
	First int `json:"first"`
	Tasks int `json:"tasks"`
}

// Cancel is the request to cancel a job, or tasks of a bag.
type Cancel struct {
	Reason string   `json:"reason"`
	Tasks  []string `json:"tasks,omitempty"` // their names; none: the job
}

// States has a word for the state of each task that was asked for, as berth status JOB TASK prints it.
type States struct {
	States []string `json:"states"`
}

// Resume is the request to continue a job that is over.
type Resume struct {
	Failed bool     `json:"failed"`        // failed tasks are tried again
	Env    []string `json:"env,omitempty"` // as in Submit
}

// Running is a list of the attempts of a job that run, in the order of their tasks.
type Running struct {
	Attempts []report.RunningAttempt `json:"attempts"`
}

// Printed is a part of what a running task has printed, from an offset on.
type Printed struct {
	Data []byte `json:"data"`
}

// Explanation has the reasons for the present state of a job, one line for each.
type Explanation struct {
	Lines []string `json:"lines"`
}

// Jobs is a list of jobs, the newest last.
type Jobs struct {
	Jobs []report.JobView `json:"jobs"`
}

// Held is a list of allocations of batch systems, the oldest first: those that wait for work, those that have some, and those that are over.
type Held struct {
	Allocs []job.Live `json:"allocs"`
}

// Failure returns the form in which an error is sent to another process: its text without its cause.
func Failure(err error) *job.Error {
	if e, ok := err.(*job.Error); ok && e.Err == nil {
		return e
	}
	return &job.Error{Class: job.ClassOf(err), Code: job.CodeOf(err), What: err.Error()}
}

// Watched is one line of a watch: the present state of the job. Final is set in the last one.
type Watched struct {
	View  report.JobView `json:"view"`
	Final bool           `json:"final,omitempty"`
	Full  bool           `json:"full,omitempty"`  // the disk of the state folder is full: nothing is started until there is room
	Error *job.Error     `json:"error,omitempty"` // the reason why the coordinator cannot continue
}

// AllRuns is the value of KeepRuns with which all runs stay.
const AllRuns = 0
