package plan

import (
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Plan is the decision for a job. Its JSON is part of berth's interface: keys are only added.
type Plan struct {
	At       job.Time `json:"at_ns"`
	App      string   `json:"app"` // identity for profiles, see predict.Application
	Kind     job.Kind `json:"kind"`
	NodeType string   `json:"node_type,omitempty"` // type of the nodes of the profile (predict.NodeType); the caller sets it

	Alloc      job.AllocRequest `json:"alloc"` // Nodes 0: no further allocation is requested, see Requests
	Tasks      int              `json:"tasks"` // bag tasks or maps of the whole job
	Reduces    int              `json:"reduces"`
	Left       *Left            `json:"left,omitempty"` // what is planned of a job that has begun; nil: all of it
	InputBytes int64            `json:"input_bytes"`
	job.Followup
	Demands []Demand    `json:"demands,omitempty"` // of the job's phases, as far as they were measured
	Curves  []job.Curve `json:"curves,omitempty"`  // progress over time of some attempts of earlier runs
	// Further and Which are the needs of a bag's tasks that are not those of the bag (job.Work).
	Further []job.Needs    `json:"further,omitempty"`
	Which   []job.NeedsRun `json:"which,omitempty"`
	// Memory is what earlier tasks of the application used, for a bag whose tasks can get more or other memory than they start with.
	Memory   []job.MemorySample `json:"memory,omitempty"`
	Outlook  *Outlook           `json:"outlook,omitempty"`  // nil: the backend has no queue
	Start    *Start             `json:"start,omitempty"`    // nil: no history of the queue predicts it
	Deadline *Deadline          `json:"deadline,omitempty"` // nil: the job has none
	// Mix has the tasks that are planned by their needs, and Serves for each request the positions of the needs in it that it was made for.
	// Both are empty where all tasks need the same.
	Mix         []Mixed `json:"mix,omitempty"`
	Serves      [][]int `json:"serves,omitempty"`
	TaskSlots   int     `json:"task_slots"`   // bag tasks or maps that can run at once, on all nodes
	ReduceSlots int     `json:"reduce_slots"` // likewise

	Predicted *Prediction `json:"predicted"` // nil: no prediction is possible, see Source
	Source    string      `json:"source"`    // what the prediction is based on, or why there is none

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
	Tasks   int `json:"tasks"` // bag tasks or maps
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
	Median float64 `json:"median_s"` // of the simulated runs
	P95    float64 `json:"p95_s"`    // of the simulated runs; within the bounds
	Stages []Stage `json:"stages"`   // T_low and T_up of each
}

// widen extends the bounds so that they contain i.
func (p *Prediction) widen(i predict.Interval) {
	p.Low, p.Up = min(p.Low, i.Low), max(p.Up, i.Up)
}

// Stage is the bounds of one stage of the run.
type Stage struct {
	Name string `json:"stage"` // tasks; map, first-shuffle, other-shuffle, reduce
	predict.Interval
}

// mostNeeds is how many different needs the reasons of a plan name.
const mostNeeds = 8

// Mixed is tasks with the same needs.
type Mixed struct {
	Tasks int `json:"tasks"`
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

	notes []string
}

// MapMemory returns the bytes that each of the maps that run at once may use for its buffers, so that splits can be
// cut to fit.
func (l Layout) MapMemory() int64 { return l.SortMemory / int64(max(1, l.TaskSlots/l.Nodes)) }
