package plan

import (
	"berth/internal/job"
	"berth/internal/predict"
)

// Plan is what was decided for a job. Its JSON is berth's interface: keys are only added.
type Plan struct {
	At       job.Time `json:"at_ns"`
	App      string   `json:"app"` // identity for profiles, see predict.Application
	Kind     job.Kind `json:"kind"`
	NodeType string   `json:"node_type,omitempty"` // what the profile was measured on (predict.NodeType); set by who asks

	Alloc      job.AllocRequest `json:"alloc"` // no nodes: nothing more is to be asked for, see Requests
	Tasks      int              `json:"tasks"` // bag tasks or maps of the whole job
	Reduces    int              `json:"reduces"`
	Left       *Left            `json:"left,omitempty"` // what the plan is about where the job has begun; nil: all of it
	InputBytes int64            `json:"input_bytes"`
	job.Course
	Demands     []Demand    `json:"demands,omitempty"` // of the job's phases, as far as they were measured
	Curves      []job.Curve `json:"curves,omitempty"`  // how some attempts of earlier runs came on
	Outlook     *Outlook    `json:"outlook,omitempty"` // of the queue; nil: there is none
	TaskSlots   int         `json:"task_slots"`        // bag tasks or maps that can run at once, on all nodes
	ReduceSlots int         `json:"reduce_slots"`      // likewise

	Predicted *Prediction `json:"predicted"` // nil: there is nothing to go by
	Source    string      `json:"source"`    // where the prediction comes from, or why there is none

	Reasons []string `json:"reasons"` // one line each; the first is the whole decision
	Notes   []string `json:"notes"`   // what the user may want to mend or to know
}

// Decision returns the whole decision in one line, empty for a plan without reasons.
func (p *Plan) Decision() string {
	if len(p.Reasons) == 0 {
		return ""
	}
	return p.Reasons[0]
}

// Left is what is not done of a job.
type Left struct {
	Tasks   int `json:"tasks"` // bag tasks or maps
	Reduces int `json:"reduces"`
}

// left returns what the plan is about.
func (p *Plan) left() Left {
	if p.Left != nil {
		return *p.Left
	}
	return Left{Tasks: p.Tasks, Reduces: p.Reduces}
}

// setLeft says that the plan is about the rest of a job. A nil rest is all of it.
func (p *Plan) setLeft(r *job.Rest) {
	if r != nil {
		p.Left = &Left{Tasks: r.Tasks, Reduces: r.Reduces}
	}
}

// Prediction is the predicted run time of the job: seconds from the start of its first
// task to its end. When the first task starts is Outlook.Start.
type Prediction struct {
	// The bounds: what 5 and 95 of 100 simulated runs keep within, and no closer than their
	// mean. On one allocation that lasts they are no closer than T_low and T_up of docs/models.md.
	predict.Interval
	Median float64 `json:"median_s"` // half of the runs take no longer …
	P95    float64 `json:"p95_s"`    // … and 95 of 100 no longer than that, which is within the bounds
	Stages []Stage `json:"stages"`   // T_low and T_up of each stage
}

// widen makes the bounds no closer than those.
func (p *Prediction) widen(i predict.Interval) {
	p.Low, p.Up = min(p.Low, i.Low), max(p.Up, i.Up)
}

// Stage is the bounds of a part of the run.
type Stage struct {
	Name string `json:"stage"` // tasks; map, first-shuffle, other-shuffle, reduce
	predict.Interval
}

// Counts is the size of a job, known once its input was looked at.
type Counts struct {
	Tasks      int   // bag entries or maps
	InputBytes int64 // of the files; 0: not known
}

// Layout is how the machine is shared out.
type Layout struct {
	Nodes   int           // workers
	PerNode job.Resources // what each has
	// SortMemory is the bytes that each node may use for sorting and merging.
	SortMemory int64
	// TaskSlots and ReduceSlots are how many bag tasks or maps, and reduces, run at
	// once on all nodes together.
	TaskSlots, ReduceSlots int
	// Speed is the share of a core that a core of a node is: below 1 where there are
	// more workers than cores.
	Speed float64

	notes []string
}

// MapMemory returns the bytes that each of the maps running at once may use for
// its buffers, so that splits can be cut to fit.
func (l Layout) MapMemory() int64 { return l.SortMemory / int64(max(1, l.TaskSlots/l.Nodes)) }
