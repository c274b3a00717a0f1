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
	Version   int    `json:"version"`   // of the control interface
	PID       int    `json:"pid"`       // its process
	Address   string `json:"address"`   // address to which workers connect
	Jobs      int    `json:"jobs"`      // jobs that are not over
	Nodes     int    `json:"nodes"`     // workers that are connected
	Started   string `json:"started"`   // RFC 3339
	Order     string `json:"order"`     // order of jobs on the same nodes: `auto`, `fifo` or `shortest`
	Scheduler string `json:"scheduler"` // the policy that places tasks and their phases on nodes
	// StragglerRule is the name of the rule that finds stragglers.
	StragglerRule string         `json:"straggler_rule"` // rule that finds stragglers: a name that `berth server start --straggler-rule` accepts
	Carry         leader.StandIn `json:"carry_on"`       // stand-ins on a cluster: `on` (workers and a wake-up job), `nodes` (workers) or `off`
	StandIn       bool           `json:"stand_in"`       // the coordinator is a stand-in: it runs inside a Slurm job
	Keep          bool           `json:"keep"`           // allocations are kept as long as any job can use them
	Full          bool           `json:"full,omitempty"` // the disk of the state folder is full, so nothing is started or recorded; may be absent: it is not
	// KeepRuns is the number of runs that stay on disk when they are over, AllRuns for all; nil: berth decides.
	KeepRuns *int        `json:"keep_runs,omitempty"` // number of runs that stay on disk after they are over, 0: all; may be absent: default
	Limits   []job.Limit `json:"limits,omitempty"`    // what `berth limit` set, which prints this key alone; may be absent: nothing
}

// Server is the description of the coordinator that commands print.
type Server struct {
	Running bool `json:"running"` // a coordinator runs
	Hello
	// There is the stand-in that runs on another machine, or nil.
	There  *leader.Owner `json:"stand_in_elsewhere,omitempty"` // the stand-in on another machine, `running` is false then; may be absent: none
	Chosen leader.Choice `json:"chosen"`                       // what flags of `berth server start` chose, until `berth server stop`
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
	States []string `json:"states"` // `waiting`, `running`, `done`, `failed` or `cancelled`, in the order of the question
}

// Resume is the request to continue a job that is over.
type Resume struct {
	Failed bool     `json:"failed"`        // failed tasks are tried again
	Env    []string `json:"env,omitempty"` // as in Submit
}

// Limits are the limits of the user, by name.
type Limits struct {
	Limits []job.Limit `json:"limits"` // what jobs share
}

// SetLimits is the request to change limits, which Limits answers.
type SetLimits struct {
	Limits map[string]int `json:"limits,omitempty"`
	Remove []string       `json:"remove,omitempty"`
}

// Set is the request to change options of a job that is not over.
type Set struct {
	Settings []string `json:"settings"` // NAME=VALUE
}

// WasSet is what follows from it.
type WasSet struct {
	Notes []string `json:"notes"` // what people should know
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
	Lines []string `json:"lines"` // why the job is in its present state, as text
}

// Jobs is a list of jobs, the newest last.
type Jobs struct {
	Jobs []report.JobView `json:"jobs"` // the jobs that were asked for
}

// Listed is the answer to the question for what lists of jobs have (report.JobView.Brief).
type Listed struct {
	Jobs
	Filed Filed `json:"filed"`
}

// Filed names the runs that are over and archived, in no order. Of a run that is neither here nor among the jobs the coordinator knows nothing: its
// folder is to be asked.
type Filed struct {
	IDs []job.ID `json:"ids"`
	At  []int64  `json:"at_ns"` // when the summary of each was written (statedir.Home.Ends), in nanoseconds since 1970
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
