package plan

import (
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Plan is the decision for a job. Its JSON is part of berth's interface: keys are only added.
type Plan struct {
	At       job.Time `json:"at_ns"`               // when it was planned, since the Unix epoch
	App      string   `json:"app"`                 // what the application is known by in the history
	Kind     job.Kind `json:"kind"`                // `bag` or `mapreduce`
	NodeType string   `json:"node_type,omitempty"` // the type of the nodes, as profiles know them

	Alloc      job.AllocRequest `json:"alloc"` // the first request: the allocation that is requested
	Tasks      int              `json:"tasks"` // tasks of a bag, or maps, of the whole job
	Reduces    int              `json:"reduces"`
	Left       *Left            `json:"left,omitempty"` // the part of a resumed job that the plan is for; may be absent: the plan is for the whole job
	InputBytes int64            `json:"input_bytes"`    // 0: not known
	job.Followup
	Demands []Demand    `json:"demands,omitempty"` // demand of an attempt in each phase at full speed, from the application's profile
	Curves  []job.Curve `json:"curves,omitempty"`  // progress curves of earlier attempts, in `plan.json` of a run only
	// Further and Which are the needs of a bag's tasks that are not those of the bag (job.Work).
	Further []job.Needs    `json:"further,omitempty"` // needs of a bag's tasks that differ from those of the bag
	Which   []job.NeedsRun `json:"which,omitempty"`   // which tasks have which needs, in their order; may be absent: all have those of the bag
	// Memory is what earlier tasks of the application used, for a bag whose tasks can get more or other memory than they start with.
	Memory   []job.MemorySample `json:"memory,omitempty"`   // what earlier tasks used, in `plan.json` of a run only
	Outlook  *Outlook           `json:"outlook,omitempty"`  // snapshot of the batch system's queue that the plan was made from, and the choice
	Start    *Start             `json:"start,omitempty"`    // when the first allocation begins, by the history of the queue; may be absent: predicted by limits
	Deadline *Deadline          `json:"deadline,omitempty"` // may be absent: the job has none, or comes after others
	// Mix has the tasks that are planned by their needs, and Serves for each request the positions of the needs in it that it was made for.
	// Both are empty where all tasks need the same.
	Mix         []Mixed `json:"mix,omitempty"`    // the tasks that are planned, by their needs; may be absent: all need the same
	Serves      [][]int `json:"serves,omitempty"` // for `alloc` and each of `more`: the positions in `mix` it was requested for
	TaskSlots   int     `json:"task_slots"`       // tasks or maps that can run at once, on all nodes
	ReduceSlots int     `json:"reduce_slots"`     // reduces that can run at once, on all nodes

	Predicted *Prediction `json:"predicted"` // the run time, from the first task to the end of the job; null: no prediction
	Source    string      `json:"source"`    // where the prediction comes from, or why there is none

	Reasons []string `json:"reasons"` // one line each; the first is the whole decision
	Notes   []string `json:"notes"`   // what the user may want to correct or to know

	ends float64 // of a part of a job: when it is expected to be done, in seconds; 0: unknown
}

// Decision returns the whole decision in one line, empty for a plan without reasons.
func (p *Plan) Decision() string {
	if len(p.Reasons) == 0 {
		return ""
	}
	return p.Reasons[0]
}

// Left is the part of a job that is not done.
type Left struct {
	Tasks   int `json:"tasks"` // tasks of a bag, or maps, that are not done yet
	Reduces int `json:"reduces"`
}

// plannedPart returns the part of the job that is planned.
func (p *Plan) plannedPart() Left {
	if p.Left != nil {
		return *p.Left
	}
	return Left{Tasks: p.Tasks, Reduces: p.Reduces}
}

// setLeft sets the part of the job that is planned; nil stands for all of it.
func (p *Plan) setLeft(r *job.Remaining) {
	if r != nil {
		p.Left = &Left{Tasks: r.Tasks, Reduces: r.Reduces}
	}
}

// Prediction is the predicted run time of the job: seconds from the start of its first task to its end. Outlook.Start
// predicts when the first task starts.
type Prediction struct {
	// The 5th and the 95th percentile of simulated runs, widened so that their mean lies within. On one allocation that
	// lasts until the job is done they are also widened to T_low and T_up of docs/models.md, "Completion time".
	predict.Interval
	Median float64 `json:"median_s"` // half of such runs take no longer
	P95    float64 `json:"p95_s"`    // 95 of 100 such runs take no longer; at most the upper bound
	Stages []Stage `json:"stages"`   // bounds of each part
}

// widen extends the bounds so that they contain i.
func (p *Prediction) widen(i predict.Interval) {
	p.Low, p.Up = min(p.Low, i.Low), max(p.Up, i.Up)
}

// Stage is the bounds of one stage of the run.
type Stage struct {
	Name string `json:"stage"` // `tasks`; `map`, `first-shuffle`, `other-shuffle`, `reduce`
	predict.Interval
}

// mostNeeds is how many different needs the reasons of a plan name.
const mostNeeds = 8

// Mixed is tasks with the same needs.
type Mixed struct {
	Tasks int `json:"tasks"` // how many
	job.Needs
}

// Counts is the size of a job, known once its input has been read.
type Counts struct {
	Tasks      int   // bag entries or maps
	InputBytes int64 // of the files; 0: unknown
	Width      int   // how many bag entries can run at once, as some come after others; 0: all
	Path       int   // how many bag entries come one after the other at most; 0: unknown
	// Needs has the tasks of a bag by their needs (job.Work.Left); nil: all have the needs of the bag.
	Needs []job.NeedsLeft
}

// Layout is the division of the machine among workers.
type Layout struct {
	Nodes   int           // workers
	PerNode job.Resources // of each worker
	// SortMemory is the memory in bytes that each worker may use for sorting and merging.
	SortMemory int64
	// TaskSlots and ReduceSlots are how many bag tasks or maps, and reduces, run at
	// once on all nodes together.
	TaskSlots, ReduceSlots int
	// Speed is the speed of a worker's core in cores of the machine: below 1 where there are more workers than cores.
	Speed float64

	cores int // of all workers
	notes []string
}

// MapMemory returns the bytes that each of the maps that run at once may use for its buffers, so that splits can be
// cut to fit.
func (l Layout) MapMemory() int64 { return l.SortMemory / int64(max(1, l.TaskSlots/l.Nodes)) }
