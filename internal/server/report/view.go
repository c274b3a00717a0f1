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
	ID         job.ID      `json:"id"`
	Name       string      `json:"name"`
	Kind       job.Kind    `json:"kind"`  // bag or mapreduce
	State      event.State `json:"state"` // queued, running, stopping, finalizing, done, failed, cancelled, interrupted, damaged
	TasksDone  int         `json:"tasks_done"`
	TasksTotal int         `json:"tasks_total"`
	Open       bool        `json:"open,omitempty"` // tasks can be added to it (berth add)

	TasksFailed  int       `json:"tasks_failed"`
	TasksRunning int       `json:"tasks_running"`
	ElapsedS     float64   `json:"elapsed_s"`              // from submission to end or now, and from each resume
	EtaS         *float64  `json:"eta_s,omitempty"`        // seconds until the end; absent: unknown
	EtaFrom      string    `json:"eta_from,omitempty"`     // rate: the rate of the tasks so far; prediction: its upper bound
	EtaAtLimit   int       `json:"eta_at_limit,omitempty"` // running tasks that are expected to reach their time limit
	Deadline     time.Time `json:"deadline,omitzero"`      // absent: it has none
	SlackS       *float64  `json:"slack_s,omitempty"`      // from the expected or actual end to the deadline, below 0 if that is missed; absent: unknown

	Running   []RunningView `json:"running"`          // attempts that run, longest first, 20 at most
	CoreHours *CoreHours    `json:"core_s,omitempty"` // absent: not known
}

// JobView is the full view of a job. Times are RFC 3339 in UTC. Durations are seconds. Values that are unknown, and
// times that have not come, are absent.
type JobView struct {
	Status
	TasksWaiting int `json:"tasks_waiting"`
	TasksSkipped int `json:"tasks_skipped,omitempty"` // failed ones that were not started, because a task that they come after has failed

	Retries     int      `json:"retries"`      // attempts beyond the first of their task, without those that the one before asked for
	Attempts    Attempts `json:"attempts"`     // by outcome
	OutputsLost int      `json:"outputs_lost"` // maps that were done and had to run again
	WastedS     float64  `json:"wasted_s"`     // seconds of attempts without a result, and of lost outputs

	Stragglers      Stragglers     `json:"stragglers"`
	ProgressSources map[string]int `json:"progress_sources,omitempty"` // tasks that are done, by what their progress was measured by

	At        time.Time `json:"at,omitzero"` // time of the view
	Submitted time.Time `json:"submitted,omitzero"`
	Started   time.Time `json:"started,omitzero"` // first attempt
	Ended     time.Time `json:"ended,omitzero"`
	Resumed   time.Time `json:"resumed,omitzero"` // for the last time

	After []job.ID `json:"after,omitempty"` // jobs that must be done before it begins, and are not

	Application string `json:"application,omitempty"`
	Partition   string `json:"partition,omitempty"` // in which it ran; several are separated by commas; without a batch system its backend
	Account     string `json:"account,omitempty"`   // absent: the user's default

	Weight float64 `json:"weight"` // among jobs that share nodes with it

	Memory   *MemoryUse `json:"memory,omitempty"`    // of a bag; absent: its tasks have no --mem
	Fix      string     `json:"fix,omitempty"`       // the command with which the failed tasks would work that ran out of memory or time
	FixTasks int        `json:"fix_tasks,omitempty"` // how many tasks have failed because they ran out of memory or time
	NoFix    string     `json:"no_fix,omitempty"`    // why there is no such command

	Energy *Energy `json:"energy,omitempty"` // absent: nothing is known of it
	Rented *Rented `json:"rented,omitempty"` // of a job on rented machines that is over

	BytesIn  int64 `json:"bytes_in"`  // read by the first phase that reads the job's input
	BytesOut int64 `json:"bytes_out"` // written by the last phase

	Reason string `json:"reason,omitempty"`     // why it failed, stops or was cancelled
	Code   string `json:"error_code,omitempty"` // failed, arguments, no_input, config, output_exists, io, interrupted

	Decision  string      `json:"decision,omitempty"`  // the plan's one line
	Predicted *Prediction `json:"predicted,omitempty"` // of the run time, after a resume that of what was left
	ActualS   *float64    `json:"actual_s,omitempty"`  // the run time: from the first attempt, since the last resume, to the end
	OffBy     *float64    `json:"off_by,omitempty"`    // see Prediction.Off

	// Of a batch system.
	Expected       *plan.Expectation `json:"expected,omitempty"`        // by the plan; absent: there is no queue
	PredictedStart *plan.Start       `json:"predicted_start,omitempty"` // by the history of the queue
	WaitS          *float64          `json:"wait_s,omitempty"`          // the start: from submission or the last resume to the first attempt after it
	TurnaroundS    *float64          `json:"turnaround_s,omitempty"`    // of a job that is done: from there to the end
	Waits          *Waits            `json:"waits,omitempty"`           // what it waits for in the queue now
	Allocs         []AllocView       `json:"allocs"`                    // oldest first, the last 50
	AllocsTotal    int               `json:"allocs_total"`
	Plans          []PlanView        `json:"plans"`       // made for what was left, the last 20
	PlansTotal     int               `json:"plans_total"` // with the one it began with

	Phases   []PhaseView                 `json:"phases"`
	Nodes    []NodeView                  `json:"nodes"`
	Counters map[string]map[string]int64 `json:"counters"` // group, name

	Failures      []Failure  `json:"failures"` // the last 20
	FailuresTotal int        `json:"failures_total"`
	Slowest       []TaskTime `json:"slowest"`        // 10 at most
	Left          []string   `json:"left,omitempty"` // processes that were ended after the programs of tasks, the last 20
	LeftTotal     int        `json:"left_total,omitempty"`
	Warnings      []string   `json:"warnings,omitempty"` // what users should know of tasks, the last 20
	WarningsTotal int        `json:"warnings_total,omitempty"`

	Notes    []string `json:"notes"`
	Joblog   string   `json:"joblog_error,omitempty"` // why the job log could not be completed; empty: it could be, as far as is known
	unlogged string   // the last note that the job log is not complete
	Output   string   `json:"output,omitempty"` // where the output is or will be
	Logs     string   `json:"logs,omitempty"`   // folder of the tasks' logs
}

// Rented has the actual cost and time of a job on rented machines, and those predicted when they were chosen.
type Rented struct {
	Came      job.Forecast  `json:"came"`
	Predicted *job.Forecast `json:"predicted,omitempty"` // absent: they were not chosen on a front
}

// Attempts counts a job's attempts by outcome.
type Attempts struct {
	Started int `json:"started"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Lost    int `json:"lost"`
	Killed  int `json:"killed"`
	Broken  int `json:"broken"` // failed by the machine or its files, such as a full disk or damaged input; not tried again
	// Requeued have ended with the exit status of --requeue-exit: their tasks start again.
	Requeued int `json:"requeued"`
	// Outgrown have run out of memory or of their time limit: their tasks start again with more.
	Outgrown int `json:"outgrown"`
}

// of returns the count of attempts with an outcome.
func (a *Attempts) of(o event.Outcome) *int {
	return [...]*int{event.Done: &a.Done, event.Failed: &a.Failed, event.Lost: &a.Lost, event.Killed: &a.Killed, event.Broken: &a.Broken,
		event.Requeued: &a.Requeued, event.Outgrown: &a.Outgrown}[o]
}

// Stragglers counts the actions on slow tasks.
type Stragglers struct {
	Duplicates int     `json:"duplicates"` // attempts that began while another of their task ran
	Won        int     `json:"won"`        // duplicates that did their task
	CostS      float64 `json:"cost_cpu_s"` // processor time of attempts that ended because another one had done their task
	// Ended are the last attempts that were killed as they were slow, or as another one had done their task: which, and why.
	Ended      []string `json:"ended,omitempty"`
	EndedTotal int      `json:"ended_total,omitempty"`
}

// Prediction is the run time that the plan predicted: from the first attempt to the end.
type Prediction struct {
	LowSeconds float64 `json:"low_s"`
	UpSeconds  float64 `json:"up_s"`
	Source     string  `json:"source"` // what the prediction is made from
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
	Phase   string `json:"phase"`
	Total   int    `json:"total"`
	Waiting int    `json:"waiting"`
	Running int    `json:"running"`
	Done    int    `json:"done"`
	Failed  int    `json:"failed"` // failed tasks, in any phase

	Progress float64  `json:"progress"`               // 0…1, with what running attempts have done
	EtaS     *float64 `json:"eta_s,omitempty"`        // until the phase is over for all tasks; absent: not known
	AtLimit  int      `json:"eta_at_limit,omitempty"` // running tasks that are expected to reach their time limit

	BytesIn    int64   `json:"bytes_in"`
	BytesOut   int64   `json:"bytes_out"`
	RecordsIn  int64   `json:"records_in"`
	RecordsOut int64   `json:"records_out"`
	CPUS       float64 `json:"cpu_s"`
	PeakMem    int64   `json:"peak_mem_bytes"` // greatest of any attempt
	Rate       float64 `json:"rate_bytes_s"`   // read, by all attempts together, over the present run
	RateTasks  float64 `json:"rate_tasks_s"`   // tasks that finished the phase per second, over the present run

	Takes
	Seconds    Seconds   `json:"seconds"`
	FirstStart time.Time `json:"first_start,omitzero"`
	LastEnd    time.Time `json:"last_end,omitzero"`
}

// Seconds describes the durations of a phase in the attempts that are done. The error of quantiles is at most 1 %.
type Seconds struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
}

// RunningView is a running attempt.
type RunningView struct {
	Task     int      `json:"task"`
	Name     string   `json:"name"`
	Input    string   `json:"input,omitempty"` // as in Failure
	Attempt  int      `json:"attempt"`
	Node     string   `json:"node"`
	Host     string   `json:"host"`
	Phase    string   `json:"phase"`
	Seconds  float64  `json:"seconds"` // since the attempt began
	BytesIn  int64    `json:"bytes_in"`
	BytesOut int64    `json:"bytes_out"`
	Progress *float64 `json:"progress,omitempty"` // of the task, 0…1; absent: not known
	// Source is what Progress is measured by (job.ProgressSource): hits, input, instructions, io or cpu; absent: nothing was measured yet.
	Source        string    `json:"source,omitempty"`
	EndExpected   time.Time `json:"end_expected,omitzero"`    // when the attempt is expected to end
	PhaseProgress *float64  `json:"phase_progress,omitempty"` // of the phase's input, 0…1; absent: not known
	Duplicate     bool      `json:"duplicate"`                // it began while another attempt of its task ran
	Status        string    `json:"status,omitempty"`         // the task's last status line
}

// PlanView is a plan for the remaining tasks of a job.
type PlanView struct {
	At       time.Time `json:"at"`
	Decision string    `json:"decision"`        // one line
	Scout    int       `json:"scout,omitempty"` // number of finished tasks after which the job is planned again
	// The predicted seconds from the plan to the end of the job (0: no prediction), and the actual ones of a job that is done.
	LowSeconds  float64  `json:"turnaround_low_s,omitempty"`
	UpSeconds   float64  `json:"turnaround_up_s,omitempty"`
	MeanSeconds float64  `json:"turnaround_mean_s,omitempty"`
	ActualS     *float64 `json:"turnaround_s,omitempty"`
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
