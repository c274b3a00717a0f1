package engine

import (
	"time"

	"berth/internal/job"
)

// ReasonKind says what a Reason speaks of, and so which of its fields are set.
type ReasonKind string

const (
	// Finalizing: all tasks are done; the output is put into place.
	Finalizing ReasonKind = "finalizing"
	// Stopping: the job is stopped because of Text.
	Stopping ReasonKind = "stopping"
	// TasksRun: Count of Of tasks run, on Nodes (Count of each).
	TasksRun ReasonKind = "tasks_run"
	// AllocWaits: Alloc, asked for with Request, has not begun for Since; Text is what the batch
	// system says of it, Left the time until its expected start, 0 where none is known.
	AllocWaits ReasonKind = "allocation_waits"
	// NoNodeYet: Alloc began Since ago, and none of its nodes has joined.
	NoNodeYet ReasonKind = "no_node_yet"
	// AllocEnds: Alloc ends after Left, and perhaps already when the job Jobs[0] is done that asked for it.
	AllocEnds ReasonKind = "allocation_ends"
	// PlanPending: what is left is planned at the moment, because of Text.
	PlanPending ReasonKind = "plan_pending"
	// PlanFailed: what is left could not be planned because of Text, and is planned again after Left.
	PlanFailed ReasonKind = "plan_failed"
	// PlanLater: what is left is planned after Left, as the last Count allocations ended without a
	// task done, the last because of Text.
	PlanLater ReasonKind = "plan_later"
	// PlanNever: nothing more is asked for before a running task is done, for the same reason.
	PlanNever ReasonKind = "plan_never"
	// NodeAway: Nodes[0] has not answered for Since because of Text; it is waited for Left more. It
	// has Count attempts and Of map outputs of the job.
	NodeAway ReasonKind = "node_away"
	// NodeSuspected: no task starts on Nodes[0] for Left, as attempts failed or got lost there.
	NodeSuspected ReasonKind = "node_suspected"
	// SortWaits: Count reduces on Nodes[0] wait for Need to sort and reduce.
	SortWaits ReasonKind = "sort_waits"
	// Throttled: Count tasks of the kind Task wait, as no more than Of may run at once.
	Throttled ReasonKind = "throttled"
	// SlowStart: Count reduces wait until Of maps of the Total are done; Done are.
	SlowStart ReasonKind = "slow_start"
	// RoomWaits: Count tasks of the kind Task wait for Need, which none of Nodes has. Kept bytes of
	// each node are kept for maps, or with KeptForJobs for jobs that go first.
	RoomWaits ReasonKind = "room_waits"
	// EarlierJobs: Jobs came first, and begin their tasks first.
	EarlierJobs ReasonKind = "earlier_jobs"
	// ShorterJobs: Jobs have less left to do, and begin their tasks first.
	ShorterJobs ReasonKind = "shorter_jobs"
	// AgedJobs: Jobs have more left to do and go first because they have waited for long.
	AgedJobs ReasonKind = "aged_jobs"
	// OutputsSought: Count map outputs from before a resume are looked for on nodes that join.
	OutputsSought ReasonKind = "outputs_sought"
)

// Reason is one reason why a job is where it is, as a value: package ui words it. Its kind
// says which fields are set. Kept is in bytes.
type Reason struct {
	Kind        ReasonKind        `json:"kind"`
	Task        job.TaskKind      `json:"task,omitempty"`
	Count       int               `json:"count,omitempty"`
	Of          int               `json:"of,omitempty"`
	Total       int               `json:"total,omitempty"`
	Done        int               `json:"done,omitempty"`
	Alloc       job.AllocID       `json:"allocation,omitempty"`
	Request     *job.AllocRequest `json:"request,omitempty"`
	Nodes       []ReasonNode      `json:"nodes,omitempty"`
	Jobs        []job.ID          `json:"jobs,omitempty"`
	Need        job.Resources     `json:"need,omitzero"`
	Kept        int64             `json:"kept_bytes,omitempty"`
	KeptForJobs bool              `json:"kept_for_jobs,omitempty"`
	Since       time.Duration     `json:"since_ns,omitempty"`
	Left        time.Duration     `json:"left_ns,omitempty"`
	Text        string            `json:"text,omitempty"`
}

// ReasonNode is what a reason says of one node: why no task that waits starts there, or what
// of the job is there.
type ReasonNode struct {
	ID        job.NodeID    `json:"id"`
	Count     int           `json:"count,omitempty"`      // attempts of the job that run there
	Returned  bool          `json:"returned,omitempty"`   // its allocation is given back
	EndsIn    time.Duration `json:"ends_in_ns,omitempty"` // it ends too soon for a task
	Free      job.Resources `json:"free,omitzero"`
	Shuffling int           `json:"shuffling,omitempty"` // reduces that shuffle there
	Cores     int           `json:"cores,omitempty"`     // and no more than this many may
}
