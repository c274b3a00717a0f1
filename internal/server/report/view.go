package report

import (
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
)

// States in a view besides event.State's.
const (
	// StateInterrupted is the state of a job that has not ended while no coordinator runs.
	StateInterrupted event.State = "interrupted"
	// StateDamaged is the state of a run whose folder or journal cannot be read.
	StateDamaged event.State = "damaged"
)

// The sources of an expected end.
const (
	EtaFromRate       = "rate"
	EtaFromPrediction = "prediction"
)

// Status is the short view of a job, used by `berth status --json`.
type Status struct {
	ID         job.ID      `json:"id"`             // `bag-17`, `mr-18`
	Name       string      `json:"name"`           // the name from `--job-name`, or what berth made up
	Kind       job.Kind    `json:"kind"`           // `bag` or `mapreduce`
	State      event.State `json:"state"`          // see docs/json.md
	TasksDone  int         `json:"tasks_done"`     // tasks that are done
	TasksTotal int         `json:"tasks_total"`    // tasks of the job; maps and reduces together
	Open       bool        `json:"open,omitempty"` // tasks can be added to the bag; may be absent: they cannot

	TasksFailed  int       `json:"tasks_failed"`           // tasks that failed for good
	TasksRunning int       `json:"tasks_running"`          // tasks of which an attempt runs
	ElapsedS     float64   `json:"elapsed_s"`              // seconds from submission to the end or to now, without the time before a resume
	EtaS         *float64  `json:"eta_s,omitempty"`        // seconds until the job is expected to end
	EtaFrom      string    `json:"eta_from,omitempty"`     // source of `eta_s`: `rate` (the tasks so far), `prediction` (upper bound)
	EtaAtLimit   int       `json:"eta_at_limit,omitempty"` // running tasks that are expected to reach their time limit
	Deadline     time.Time `json:"deadline,omitzero"`      // when the job should be done
	SlackS       *float64  `json:"slack_s,omitempty"`      // seconds from the expected end, or the end, to `deadline`; below 0: it is later

	Running   []RunningView `json:"running"`          // running attempts, the longest-running first; 20 at most
	CoreHours *CoreHours    `json:"core_s,omitempty"` // core-seconds that the job held, see docs/json.md; may be absent: not known
}

// JobView is the full view of a job. Times are RFC 3339 in UTC. Durations are seconds. Values that are unknown, and
// times that have not come, are absent.
type JobView struct {
	Status
	TasksWaiting int `json:"tasks_waiting"`           // tasks that are neither done, failed nor running
	TasksSkipped int `json:"tasks_skipped,omitempty"` // failed tasks that were not started, as one that they come after failed

	Retries     int      `json:"retries"`      // attempts beyond the first of their task, without those after `--requeue-exit`
	Attempts    Attempts `json:"attempts"`     // attempts counted by outcome
	OutputsLost int      `json:"outputs_lost"` // maps that were done and had to run again, as their output was lost
	WastedS     float64  `json:"wasted_s"`     // seconds of attempts without a result, and of attempts whose output was lost

	Stragglers      Stragglers     `json:"stragglers"`                 // what was done about stragglers
	ProgressSources map[string]int `json:"progress_sources,omitempty"` // tasks that are done, by `running[].source`, or `none`; may be absent: none is

	At        time.Time `json:"at,omitzero"` // the time that this description is for
	Submitted time.Time `json:"submitted,omitzero"`
	Started   time.Time `json:"started,omitzero"` // when the first attempt began
	Ended     time.Time `json:"ended,omitzero"`
	Resumed   time.Time `json:"resumed,omitzero"` // when the job was resumed for the last time

	After []job.ID `json:"after,omitempty"` // jobs that must be done before this job begins and are not done yet

	Application string `json:"application,omitempty"` // as in `report --accuracy`
	Partition   string `json:"partition,omitempty"`   // in which it ran, several with commas; without a batch system the backend
	Account     string `json:"account,omitempty"`     // may be absent: the user's default

	Weight   float64 `json:"weight"`             // relative weight of this job among jobs on the same nodes; 1 if none was given
	Priority int     `json:"priority,omitempty"` // jobs with a higher one go first; may be absent: 0

	Memory   *MemoryUse `json:"memory,omitempty"`    // memory that attempts of a bag were given; may be absent: it has no `--mem`
	Fix      string     `json:"fix,omitempty"`       // command with which failed tasks would work that ran out of memory or time
	FixTasks int        `json:"fix_tasks,omitempty"` // how many tasks these are
	NoFix    string     `json:"no_fix,omitempty"`    // why there is no such command

	Energy *Energy `json:"energy,omitempty"` // electric energy that the job used; may be absent: not known
	Rented *Rented `json:"rented,omitempty"` // cost and makespan of a job on rented machines, once it is over

	BytesIn  int64 `json:"bytes_in"`  // input read, as far as berth sees it
	BytesOut int64 `json:"bytes_out"` // output written, as far as berth sees it

	Reason string `json:"reason,omitempty"`     // why the job failed, stops or was cancelled
	Code   string `json:"error_code,omitempty"` // of a job that failed or was cancelled, see docs/json.md

	Decision  string      `json:"decision,omitempty"`  // the plan's one line: what was decided and why
	Predicted *Prediction `json:"predicted,omitempty"` // the predicted run time, since the last resume
	ActualS   *float64    `json:"actual_s,omitempty"`  // the run time of a job that is done, beside `predicted`
	OffBy     *float64    `json:"off_by,omitempty"`    // how far `actual_s` is outside the bounds, see docs/json.md

	// Of a batch system.
	Expected       *plan.Expectation `json:"expected,omitempty"`        // what the plan expected of the queue of a batch system
	PredictedStart *plan.Start       `json:"predicted_start,omitempty"` // as `start` of *plan*; may be absent: the start is predicted by limits
	WaitS          *float64          `json:"wait_s,omitempty"`          // the start: from submission, or the last resume, to the first attempt after it
	TurnaroundS    *float64          `json:"turnaround_s,omitempty"`    // of a job that is done: from submission, or the last resume, to the end
	Waits          *Waits            `json:"waits,omitempty"`           // what the job waits for in the queue now
	Allocs         []AllocView       `json:"allocs"`                    // the job's allocations of a batch system, see docs/json.md
	AllocsTotal    int               `json:"allocs_total"`              // total number, with those not listed
	Plans          []PlanView        `json:"plans"`                     // later plans for the tasks that were left, the last 20
	PlansTotal     int               `json:"plans_total"`               // number of plans, with the first one

	Phases   []PhaseView                 `json:"phases"`   // the phases of the job's tasks, in order; see docs/json.md
	Nodes    []NodeView                  `json:"nodes"`    // the nodes that ran attempts of the job
	Counters map[string]map[string]int64 `json:"counters"` // sums by group and name, over the attempts whose output is kept

	Failures      []Failure  `json:"failures"`                 // attempts that failed, the last 20
	FailuresTotal int        `json:"failures_total"`           // total number, with those not listed
	Slowest       []TaskTime `json:"slowest"`                  // the attempts with a result that lasted longest, the longest first; 10 at most
	Left          []string   `json:"left,omitempty"`           // [processes that were ended](bags.md#what-a-task-owns) after programs; the last 20
	LeftTotal     int        `json:"left_total,omitempty"`     // number of attempts that left some; may be absent: none
	Warnings      []string   `json:"warnings,omitempty"`       // what to know of tasks, as that two left the same file; the last 20
	WarningsTotal int        `json:"warnings_total,omitempty"` // number of all; may be absent: none

	Notes    []string `json:"notes"`                  // what the user should know, as text
	Joblog   string   `json:"joblog_error,omitempty"` // why the job log could not be completed yet
	unlogged string   // the last note that the job log is not complete
	Output   string   `json:"output,omitempty"` // where the output is or will be
	Logs     string   `json:"logs,omitempty"`   // folder of the tasks' logs
}

// Brief returns what lists of jobs have of the view. The running attempts are most of it, so they are there only if they are wanted.
func (v JobView) Brief(running bool) JobView {
	b := JobView{Status: v.Status, At: v.At, Submitted: v.Submitted, Ended: v.Ended, After: v.After, Waits: v.Waits, Reason: v.Reason,
		Application: v.Application, Partition: v.Partition, Account: v.Account, Predicted: v.Predicted, ActualS: v.ActualS}
	if !running {
		b.Running = nil
	}
	return b
}

// Rented has the actual cost and time of a job on rented machines, and those predicted when they were chosen.
type Rented struct {
	Came      job.Forecast  `json:"came"`                // the actual values
	Predicted *job.Forecast `json:"predicted,omitempty"` // the predicted values; may be absent: no front
}

// Attempts counts a job's attempts by outcome.
type Attempts struct {
	Started int `json:"started"` // all attempts that were started
	Done    int `json:"done"`    // attempts with a result
	Failed  int `json:"failed"`  // attempts that failed by the program or its data; they count against its attempts
	Lost    int `json:"lost"`    // attempts whose worker or node was lost; they do not count against the task's attempts
	Killed  int `json:"killed"`  // attempts that berth killed; they do not count against the task's attempts
	Broken  int `json:"broken"`  // attempts that failed by the machine or files, such as a full disk; they stop the job
	// Requeued have ended with the exit status of --requeue-exit: their tasks start again.
	Requeued int `json:"requeued"` // attempts that ended with the status of `--requeue-exit`; their tasks start again
	// Outgrown have run out of memory or of their time limit: their tasks start again with more.
	Outgrown int `json:"outgrown"` // attempts that ran out of memory or time, and whose tasks start again with more
}

// of returns the count of attempts with an outcome.
func (a *Attempts) of(o event.Outcome) *int {
	return [...]*int{event.Done: &a.Done, event.Failed: &a.Failed, event.Lost: &a.Lost, event.Killed: &a.Killed, event.Broken: &a.Broken,
		event.Requeued: &a.Requeued, event.Outgrown: &a.Outgrown}[o]
}

// Stragglers counts the actions on slow tasks.
type Stragglers struct {
	Duplicates int     `json:"duplicates"` // duplicates that were started
	Won        int     `json:"won"`        // duplicates that finished first
	CostS      float64 `json:"cost_cpu_s"` // processor time of attempts that were ended because another one had finished
	// Ended are the last attempts that were killed as they were slow, or as another one had done their task: which, and why.
	Ended      []string `json:"ended,omitempty"`       // attempts ended as slow, or as another one had finished: the last 20
	EndedTotal int      `json:"ended_total,omitempty"` // how many there were; may be absent: none
}

// Prediction is the run time that the plan predicted: from the first attempt to the end.
type Prediction struct {
	LowSeconds float64 `json:"low_s"`  // lower bound
	UpSeconds  float64 `json:"up_s"`   // upper bound
	Source     string  `json:"source"` // what the prediction is based on
}

// Off returns by which fraction of the nearer bound the actual seconds are outside of the prediction: 0 within it,
// 0.2 for 20 % above the upper bound, −0.1 for 10 % below the lower bound.
func (p Prediction) Off(actual float64) float64 {
	switch {
	case actual > p.UpSeconds && p.UpSeconds > 0:
		return actual/p.UpSeconds - 1
	case actual < p.LowSeconds:
		return actual/p.LowSeconds - 1
	default:
		return 0
	}
}

// PhaseView is one phase over all tasks that have it. Waiting, running, done and failed add up to total. Bytes and
// records are those of attempts whose output is valid; CPU time and seconds are those of all attempts that were done.
type PhaseView struct {
	Phase   string `json:"phase"`   // name of the phase
	Total   int    `json:"total"`   // tasks that have the phase; the sum of the next four
	Waiting int    `json:"waiting"` // tasks that have not reached the phase
	Running int    `json:"running"` // tasks that are in it
	Done    int    `json:"done"`    // tasks that have finished the phase
	Failed  int    `json:"failed"`  // tasks that failed for good, in any phase

	Progress float64  `json:"progress"`               // fraction of the phase's work that is done, with that of running attempts, 0 to 1
	EtaS     *float64 `json:"eta_s,omitempty"`        // seconds until all tasks have finished the phase
	AtLimit  int      `json:"eta_at_limit,omitempty"` // running tasks that are expected to reach their time limit

	BytesIn    int64   `json:"bytes_in"`       // bytes read by attempts whose output is kept
	BytesOut   int64   `json:"bytes_out"`      // bytes written by attempts whose output is kept
	RecordsIn  int64   `json:"records_in"`     // likewise, records
	RecordsOut int64   `json:"records_out"`    // likewise, records
	CPUS       float64 `json:"cpu_s"`          // user and system time of attempts that were done
	PeakMem    int64   `json:"peak_mem_bytes"` // greatest of any attempt that was done; 0: not known (too short to measure)
	Rate       float64 `json:"rate_bytes_s"`   // bytes read a second by all attempts together, since the job began or was resumed
	RateTasks  float64 `json:"rate_tasks_s"`   // tasks that finish the phase, per second, likewise

	Takes
	Seconds    Seconds   `json:"seconds"` // how long the phase took in attempts that were done
	FirstStart time.Time `json:"first_start,omitzero"`
	LastEnd    time.Time `json:"last_end,omitzero"`
}

// Seconds describes the durations of a phase in the attempts that are done. The error of quantiles is at most 1 %.
type Seconds struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"` // median, within 1 %
	P95  float64 `json:"p95"` // 95th percentile, within 1 %
}

// RunningView is a running attempt.
type RunningView struct {
	Task     int      `json:"task"`            // index of the task, from 0; reduces come after the maps
	Name     string   `json:"name"`            // what the task is called
	Input    string   `json:"input,omitempty"` // as in `failures`
	Attempt  int      `json:"attempt"`         // 1 for the task's first
	Node     string   `json:"node"`
	Host     string   `json:"host"` // name of the machine; empty: not known
	Phase    string   `json:"phase"`
	Seconds  float64  `json:"seconds"`            // seconds since the attempt began
	BytesIn  int64    `json:"bytes_in"`           // bytes in the current phase
	BytesOut int64    `json:"bytes_out"`          // bytes in the current phase
	Progress *float64 `json:"progress,omitempty"` // fraction of the task that is done, 0 to 1; may be absent: not known
	// Source is what Progress is measured by (job.ProgressSource): hits, input, instructions, io or cpu; absent: nothing was measured yet.
	Source        string    `json:"source,omitempty"`         // what its progress is measured by, see docs/json.md
	EndExpected   time.Time `json:"end_expected,omitzero"`    // when the attempt is expected to end
	PhaseProgress *float64  `json:"phase_progress,omitempty"` // fraction of the current phase's input that was read, 0 to 1
	Duplicate     bool      `json:"duplicate"`                // the attempt is a duplicate: it began while another attempt of its task ran
	Status        string    `json:"status,omitempty"`         // the task's last `reporter:status` line

	Shares []ShareView `json:"shares,omitempty"` // parts of an attempt of several [ranks](mpi.md), that on `node` first
}

// PlanView is a plan for the remaining tasks of a job.
type PlanView struct {
	At       time.Time `json:"at"`
	Decision string    `json:"decision"`        // one line: what was decided and why
	Scout    int       `json:"scout,omitempty"` // number of tasks after which the job is planned again
	// The predicted seconds from the plan to the end of the job (0: no prediction), and the actual ones of a job that is done.
	LowSeconds  float64  `json:"turnaround_low_s,omitempty"`  // predicted seconds from the plan to the end, 5th percentile
	UpSeconds   float64  `json:"turnaround_up_s,omitempty"`   // likewise, 95th percentile
	MeanSeconds float64  `json:"turnaround_mean_s,omitempty"` // likewise, mean
	ActualS     *float64 `json:"turnaround_s,omitempty"`      // actual seconds from the plan to the end of the job; may be absent: it is not done
}

// codeNames are the names of error codes in views.
var codeNames = [...]string{
	job.CodeFailed: "failed", job.CodeArguments: "arguments", job.CodeNoInput: "no_input",
	job.CodeConfig: "config", job.CodeOutputExists: "output_exists", job.CodeIO: "io",
	job.CodeInterrupted: "interrupted", job.CodeNotStarted: "not_started",
}

// ErrorCode returns the code for the view's error_code, or CodeFailed if it has none.
func (v JobView) ErrorCode() job.Code {
	return job.Code(max(0, slices.Index(codeNames[:], v.Code))) // job.CodeFailed
}
