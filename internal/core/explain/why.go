// Package explain defines the reasons for the state of a job as values, for berth explain: sched and the engine create them, the
// coordinator passes them on, and package ui turns them into sentences. It decides nothing.
package explain

import (
	"time"

	"berth/internal/core/job"
)

// Kind is the kind of a Reason. It determines which fields of the Reason are set.
type Kind string

const (
	// Finalizing: all tasks are done; the job's output is being committed.
	Finalizing Kind = "finalizing"
	// Stopping: the job is stopped because of Text.
	Stopping Kind = "stopping"
	// TasksRun: Count of Of tasks run, on Nodes (Count of each).
	TasksRun Kind = "tasks_run"
	// AllocWaits: Alloc, which was requested with Request, has not begun for Since; Text is the batch
	// system's reason, Left the time until its expected start, 0 if unknown.
	AllocWaits Kind = "allocation_waits"
	// NoNodeYet: Alloc began Since ago, and none of its nodes has joined.
	NoNodeYet Kind = "no_node_yet"
	// AllocEnds: Alloc ends after Left, or earlier when the job Jobs[0], which requested it, is done.
	AllocEnds Kind = "allocation_ends"
	// PlanPending: the remaining tasks are being planned, because of Text.
	PlanPending Kind = "plan_pending"
	// PlanFailed: planning the remaining tasks failed because of Text; the next try is after Left.
	PlanFailed Kind = "plan_failed"
	// PlanLater: the remaining tasks are planned after Left, as the last Count allocations ended without a
	// task done, the last one because of Text.
	PlanLater Kind = "plan_later"
	// PlanNever: like PlanLater, but nothing is requested before a running task is done.
	PlanNever Kind = "plan_never"
	// NodeAway: Nodes[0] has not answered for Since because of Text; berth waits for it for Left more. It
	// has Count attempts and Of map outputs of the job.
	NodeAway Kind = "node_away"
	// NodeSuspected: no task starts on Nodes[0] for Left, as attempts failed or were lost there.
	NodeSuspected Kind = "node_suspected"
	// NodeSlow: for Left no task that replaces a slow attempt starts on Nodes[0], as attempts were too slow there.
	NodeSlow Kind = "node_slow"
	// SlowTask: Late is expected to end late, or not at all.
	SlowTask Kind = "slow_task"
	// UrgentWaits: Count tasks of the kind Task wait for a free slot on another node than that of their slow attempt.
	UrgentWaits Kind = "urgent_waits"
	// SortWaits: Count reduces on Nodes[0] wait for Need to sort and reduce.
	SortWaits Kind = "sort_waits"
	// PhaseWaits: Count attempts wait on Nodes[0] for a grant to enter Phase, because of Shortages.
	PhaseWaits Kind = "phase_waits"
	// Throttled: Count tasks of the kind Task wait, as no more than Of may run at once.
	Throttled Kind = "throttled"
	// SlowStart: Count reduces wait until Of of the Total maps are done; Done of them are.
	SlowStart Kind = "slow_start"
	// RoomWaits: Count tasks of the kind Task wait for Need, which is free on none of Nodes. Kept bytes of
	// each node are reserved for maps, or with KeptForJobs for jobs that come first.
	RoomWaits Kind = "room_waits"
	// EarlierJobs: Jobs were submitted earlier, and their tasks start first.
	EarlierJobs Kind = "earlier_jobs"
	// ShorterJobs: Jobs have less remaining work, and their tasks start first.
	ShorterJobs Kind = "shorter_jobs"
	// AgedJobs: Jobs have more remaining work, but come first because they have waited for long.
	AgedJobs Kind = "aged_jobs"
	// FairerJobs: Jobs have less of their fair share of the nodes, and their tasks start first.
	FairerJobs Kind = "fairer_jobs"
	// AfterJobs: the job starts when Jobs are done.
	AfterJobs Kind = "after_jobs"
	// OutputsSought: Count map outputs from before a resume are searched on nodes that join.
	OutputsSought Kind = "outputs_sought"
)

// Reason is one reason for the state of a job. Its kind determines
// which fields are set. Kept is in bytes.
type Reason struct {
	Kind        Kind              `json:"kind"`
	Task        job.TaskKind      `json:"task,omitempty"`
	Count       int               `json:"count,omitempty"`
	Of          int               `json:"of,omitempty"`
	Total       int               `json:"total,omitempty"`
	Done        int               `json:"done,omitempty"`
	Alloc       job.AllocID       `json:"allocation,omitempty"`
	Request     *job.AllocRequest `json:"request,omitempty"`
	Nodes       []Node            `json:"nodes,omitempty"`
	Jobs        []job.ID          `json:"jobs,omitempty"`
	Need        job.Resources     `json:"need,omitzero"`
	Kept        int64             `json:"kept_bytes,omitempty"`
	KeptForJobs bool              `json:"kept_for_jobs,omitempty"`
	Since       time.Duration     `json:"since_ns,omitempty"`
	Left        time.Duration     `json:"left_ns,omitempty"`
	Text        string            `json:"text,omitempty"`
	Phase       job.Phase         `json:"phase,omitempty"`
	Shortages   []Shortage        `json:"lacks,omitempty"`
	Late        *Late             `json:"late,omitempty"`
}

// Late is an attempt that is slower than others.
type Late struct {
	Attempt job.Attempt   `json:"attempt"` // its task number counts maps and reduces together
	Index   int           `json:"index"`   // of its task among those of its kind
	Node    job.NodeID    `json:"node"`
	Class   string        `json:"class"`              // slow or hung
	End     time.Duration `json:"end_ns,omitempty"`   // from now to its expected end; 0: unknown
	Fresh   time.Duration `json:"fresh_ns,omitempty"` // from now to the expected end of an attempt that would start elsewhere now; 0: unknown
	Act     string        `json:"act"`                // the rule's decision: keep, duplicate or abort
	Allowed bool          `json:"allowed"`            // the job allows that action
	Beside  int           `json:"beside"`             // other running attempts of its task
	Why     string        `json:"why"`                // the rule's reason
}

// Shortage is a resource of which a node has too little free for a phase. Amounts are in the unit of a job.Vector.
type Shortage struct {
	Resource job.Resource `json:"resource"`
	Need     int64        `json:"need"` // demand of one attempt in that phase
	Free     int64        `json:"free"` // free on the node; negative if more is in use than the node has
	Holders  []Holder     `json:"holders,omitempty"`
}

// Holder is Count attempts of a job in one phase that together hold Holds of a resource. The largest holders come first.
type Holder struct {
	Job   job.ID    `json:"job,omitempty"` // empty: the job that is explained
	Phase job.Phase `json:"phase"`
	Count int       `json:"count"`
	Holds int64     `json:"holds"`
	// Waits says that these attempts wait to enter Phase as well, and hold what they must keep until then.
	Waits bool `json:"waits,omitempty"`
}

// Node is the part of a reason that concerns one node: why no waiting task starts there, or what
// the job has there.
type Node struct {
	ID        job.NodeID    `json:"id"`
	Count     int           `json:"count,omitempty"`      // attempts of the job that run there
	Returned  bool          `json:"returned,omitempty"`   // its allocation is given back
	EndsIn    time.Duration `json:"ends_in_ns,omitempty"` // it ends too soon for a task
	Free      job.Resources `json:"free,omitzero"`
	Shuffling int           `json:"shuffling,omitempty"` // reduces that shuffle there …
	Cores     int           `json:"cores,omitempty"`     // … and the maximum number of them
	Shortages []Shortage    `json:"lacks,omitempty"`     // for the first phase of a task
}
