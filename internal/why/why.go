// Package why has the reasons why a job is where it is, as values: sched and the engine give them, the
// coordinator passes them on, and package ui words them. It decides nothing.
package why

import (
	"time"

	"berth/internal/job"
)

// Kind says what a Reason speaks of, and so which of its fields are set.
type Kind string

const (
	// Finalizing: all tasks are done; the output is put into place.
	Finalizing Kind = "finalizing"
	// Stopping: the job is stopped because of Text.
	Stopping Kind = "stopping"
	// TasksRun: Count of Of tasks run, on Nodes (Count of each).
	TasksRun Kind = "tasks_run"
	// AllocWaits: Alloc, asked for with Request, has not begun for Since; Text is what the batch
	// system says of it, Left the time until its expected start, 0 where none is known.
	AllocWaits Kind = "allocation_waits"
	// NoNodeYet: Alloc began Since ago, and none of its nodes has joined.
	NoNodeYet Kind = "no_node_yet"
	// AllocEnds: Alloc ends after Left, and perhaps already when the job Jobs[0] is done that asked for it.
	AllocEnds Kind = "allocation_ends"
	// PlanPending: what is left is planned at the moment, because of Text.
	PlanPending Kind = "plan_pending"
	// PlanFailed: what is left could not be planned because of Text, and is planned again after Left.
	PlanFailed Kind = "plan_failed"
	// PlanLater: what is left is planned after Left, as the last Count allocations ended without a
	// task done, the last because of Text.
	PlanLater Kind = "plan_later"
	// PlanNever: nothing more is asked for before a running task is done, for the same reason.
	PlanNever Kind = "plan_never"
	// NodeAway: Nodes[0] has not answered for Since because of Text; it is waited for Left more. It
	// has Count attempts and Of map outputs of the job.
	NodeAway Kind = "node_away"
	// NodeSuspected: no task starts on Nodes[0] for Left, as attempts failed or got lost there.
	NodeSuspected Kind = "node_suspected"
	// NodeSlow: for Left no task whose attempt was too slow begins on Nodes[0], as attempts there were too slow.
	NodeSlow Kind = "node_slow"
	// SlowTask: Late is expected to end late, or not at all.
	SlowTask Kind = "slow_task"
	// UrgentWaits: Count tasks of the kind Task wait for a place on another node than that of an attempt which was too slow.
	UrgentWaits Kind = "urgent_waits"
	// SortWaits: Count reduces on Nodes[0] wait for Need to sort and reduce.
	SortWaits Kind = "sort_waits"
	// PhaseWaits: Count attempts wait on Nodes[0] for a grant to begin Phase, as there is too little of each of Lacks.
	PhaseWaits Kind = "phase_waits"
	// Throttled: Count tasks of the kind Task wait, as no more than Of may run at once.
	Throttled Kind = "throttled"
	// SlowStart: Count reduces wait until Of maps of the Total are done; Done are.
	SlowStart Kind = "slow_start"
	// RoomWaits: Count tasks of the kind Task wait for Need, which none of Nodes has. Kept bytes of
	// each node are kept for maps, or with KeptForJobs for jobs that go first.
	RoomWaits Kind = "room_waits"
	// EarlierJobs: Jobs came first, and begin their tasks first.
	EarlierJobs Kind = "earlier_jobs"
	// ShorterJobs: Jobs have less left to do, and begin their tasks first.
	ShorterJobs Kind = "shorter_jobs"
	// AgedJobs: Jobs have more left to do and go first because they have waited for long.
	AgedJobs Kind = "aged_jobs"
	// FairerJobs: Jobs have less of their fair share of the nodes, and begin their tasks first.
	FairerJobs Kind = "fairer_jobs"
	// AfterJobs: the job begins when Jobs are done.
	AfterJobs Kind = "after_jobs"
	// OutputsSought: Count map outputs from before a resume are looked for on nodes that join.
	OutputsSought Kind = "outputs_sought"
)

// Reason is one reason why a job is where it is, as a value: package ui words it. Its kind
// says which fields are set. Kept is in bytes.
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
	Lacks       []Lack            `json:"lacks,omitempty"`
	Late        *Late             `json:"late,omitempty"`
}

// Late is an attempt that is slower than others.
type Late struct {
	Attempt job.Attempt   `json:"attempt"` // maps and reduces are counted together
	Index   int           `json:"index"`   // of its task among those of its kind
	Node    job.NodeID    `json:"node"`
	Class   string        `json:"class"`              // slow or hung
	End     time.Duration `json:"end_ns,omitempty"`   // from now to its expected end; 0: no telling
	Fresh   time.Duration `json:"fresh_ns,omitempty"` // from now to the expected end of an attempt that begins now elsewhere; 0: no telling
	Act     string        `json:"act"`                // keep, duplicate or abort: what the rule says
	Allowed bool          `json:"allowed"`            // duplicates or aborts are
	Beside  int           `json:"beside"`             // other attempts of its task that run
	Why     string        `json:"why"`                // in words
}

// Lack is a resource of a node of which too little is free for a phase to begin. Amounts are in the unit of a job.Vector.
type Lack struct {
	Resource job.Resource `json:"resource"`
	Need     int64        `json:"need"` // what one attempt takes of it in that phase
	Free     int64        `json:"free"` // what the node has left of it, negative where more is in use than the node has
	Holders  []Holder     `json:"holders,omitempty"`
}

// Holder is Count attempts of a job in one phase that together hold Holds of a resource. Those that hold most come first.
type Holder struct {
	Job   job.ID    `json:"job,omitempty"` // empty: the job that is explained
	Phase job.Phase `json:"phase"`
	Count int       `json:"count"`
	Holds int64     `json:"holds"`
	// Waits says that these attempts, too, wait to begin Phase, and hold what they need to keep until then.
	Waits bool `json:"waits,omitempty"`
}

// Node is what a reason says of one node: why no task that waits starts there, or what
// of the job is there.
type Node struct {
	ID        job.NodeID    `json:"id"`
	Count     int           `json:"count,omitempty"`      // attempts of the job that run there
	Returned  bool          `json:"returned,omitempty"`   // its allocation is given back
	EndsIn    time.Duration `json:"ends_in_ns,omitempty"` // it ends too soon for a task
	Free      job.Resources `json:"free,omitzero"`
	Shuffling int           `json:"shuffling,omitempty"` // reduces that shuffle there
	Cores     int           `json:"cores,omitempty"`     // and no more than this many may
	Lacks     []Lack        `json:"lacks,omitempty"`     // of what it has too little for the first phase of a task
}
