package job

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Needs is what a task needs of a node, and what else decides where and how often it runs and how it is predicted. Tasks of a job with
// equal needs are placed and planned alike. In the needs of a task's own (task.Spec, Work.Further) a zero field is as for the bag.
type Needs struct {
	CPUs   int   `msgpack:"nc,omitempty" json:"cpus,omitempty"` // cores; may be absent: as for the bag (in `mix`: none of it), and so all below
	Mem    int64 `msgpack:"nm,omitempty" json:"mem_bytes,omitempty"`
	MaxMem int64 `msgpack:"mm,omitempty" json:"max_mem_bytes,omitempty"` // what it may get after it ran out of memory
	// AutoMem says that Mem is chosen from what earlier tasks used, and MaxMem 0 then means what the largest node has. Size is that of the task's
	// input in bytes, rounded, by which it is chosen; 0: not known.
	AutoMem      bool          `msgpack:"am,omitempty" json:"auto_mem,omitempty"`      // its memory is chosen from earlier tasks
	Size         int64         `msgpack:"sz,omitempty" json:"size_bytes,omitempty"`    // size of its input, rounded up
	GPUs         int           `msgpack:"ng,omitempty" json:"gpus,omitempty"`          // -1: none
	GPUShare     int           `msgpack:"gs,omitempty" json:"gpu_share,omitempty"`     // thousandths of its one GPU; may be absent: all of them
	GPUType      string        `msgpack:"gt,omitempty" json:"gpu_type,omitempty"`      // may be absent: any
	TimeLimit    time.Duration `msgpack:"tl,omitempty" json:"time_limit_ns,omitempty"` // of one attempt; may be absent: none
	MaxTimeLimit time.Duration `msgpack:"ml,omitempty" json:"max_time_limit_ns,omitempty"`
	Attempts     int           `msgpack:"at,omitempty" json:"attempts,omitempty"` // attempts that may fail
	Gang
	Uses        Uses   `msgpack:"us,omitempty" json:"use,omitempty"`         // `NAME=N,…`, of what all tasks share
	Application string `msgpack:"ap,omitempty" json:"application,omitempty"` // may be absent: the job's
}

// Check returns an error for needs that no task can have.
func (n Needs) Check() error {
	if n.CPUs < 0 || n.CPUs > math.MaxInt32 || n.Mem < 0 || n.MaxMem < 0 || n.GPUs < NoGPUs || n.GPUs > math.MaxInt32 || n.GPUShare < 0 || n.GPUShare >= Milli || n.GPUShare > 0 && n.GPUs != 1 || n.Attempts < 0 || n.TimeLimit < 0 || n.MaxTimeLimit < 0 || n.Gang.impossible() {
		return fmt.Errorf("impossible needs of a task: %+v", n)
	}
	return nil
}

// NeedsFrom has the numbers, from 1, of the columns of a bag's entries that have needs of the task; 0: no column has them.
type NeedsFrom struct {
	CPUs  int `json:"cpus,omitempty"`
	Mem   int `json:"mem,omitempty"`
	GPUs  int `json:"gpus,omitempty"`
	Time  int `json:"time,omitempty"`
	Ranks int `json:"ranks,omitempty"`
}

// NoGPUs is the number of GPUs of a task that has none in a bag whose tasks have some.
const NoGPUs = -1

// MaxNeeds is how many different needs the tasks of one job can have.
const MaxNeeds = 1000

// NeedsRun says that so many tasks in a row have the needs with that index (Work.NeedsAt).
type NeedsRun struct {
	Tasks int32  `msgpack:"n" json:"tasks"`                     // so many tasks
	Index uint16 `msgpack:"i,omitempty" json:"index,omitempty"` // 0: the bag's, 1: the first of `further`; may be absent: 0
}

// NeedsByTask has the index of the needs of each task of a bag. nil: all have those of the bag.
type NeedsByTask []uint16

// At returns the index of the needs of a task.
func (b NeedsByTask) At(task int) int {
	if task >= len(b) {
		return 0
	}
	return int(b[task])
}

// Add adds a run of tasks behind the tasks that the bag has.
func (b *NeedsByTask) Add(tasks int, r NeedsRun) {
	if *b == nil && r.Index == 0 {
		return
	}
	if len(*b) < tasks {
		*b = append(*b, make([]uint16, tasks-len(*b))...)
	}
	for range r.Tasks {
		*b = append(*b, r.Index)
	}
}

// NeedsLeft counts the tasks of a job with equal needs that are not done.
type NeedsLeft struct {
	Needs   Needs
	Waiting int // ready, or blocked by other tasks of the bag
	Running int
	Ages    []time.Duration // how long those that run have worked so far, each in the first of its attempts: each takes longer than that
	// Span and CutShort are as those of Remaining, for these tasks alone; 0: unknown.
	Span     time.Duration
	CutShort time.Duration
	Unserved bool // some are ready, and none of Remaining.Live is large enough and has enough time left for one of them
}

// Resources returns what the node must have free.
func (n Needs) Resources() Resources {
	return Resources{CPUs: n.CPUs, Mem: n.Mem, GPUs: max(0, n.GPUs), GPUShare: n.GPUShare, GPUType: n.GPUType}
}

// Words returns what a task needs in words: "2 cores and 4G", or of several ranks "8 ranks of 2 cores and 4G, 2 on each node".
func (n Needs) Words() string {
	if !n.Several() {
		return n.Resources().Words()
	}
	text := Count(n.Ranks, "rank") + " of " + n.Resources().Words()
	if n.RanksPerNode > 0 {
		text += ", " + FormatCount(n.RanksPerNode) + " on each node"
	}
	return text
}

// In returns the needs of a task of a bag with these needs, which has n of its own.
func (n Needs) In(bag Needs) Needs {
	n.CPUs = cmp.Or(n.CPUs, bag.CPUs)
	if n.Mem == 0 {
		n.Mem, n.MaxMem, n.AutoMem = bag.Mem, cmp.Or(n.MaxMem, bag.MaxMem), bag.AutoMem
	}
	switch {
	case n.GPUs == 0:
		n.GPUs, n.GPUShare, n.GPUType = bag.GPUs, bag.GPUShare, bag.GPUType
	case n.GPUs == NoGPUs:
		n.GPUs, n.GPUType = 0, ""
	}
	if n.TimeLimit == 0 {
		n.TimeLimit, n.MaxTimeLimit = bag.TimeLimit, cmp.Or(n.MaxTimeLimit, bag.MaxTimeLimit)
	}
	n.Gang = n.Gang.In(bag.Gang)
	if n.Uses = cmp.Or(n.Uses, bag.Uses); n.Uses == NoUses {
		n.Uses = ""
	}
	n.Attempts = cmp.Or(n.Attempts, bag.Attempts)
	n.Application = cmp.Or(n.Application, bag.Application)
	return n
}

// MayGrow reports whether a task can get more memory or time than it starts with, or other memory.
func (n Needs) MayGrow() bool { return n.AutoMem || n.MaxMem > n.Mem || n.MaxTimeLimit > n.TimeLimit }

// Coarse returns the needs with memory and time limits rounded up to a step, so that the tasks of a bag have few different ones. The limits
// of each task stay as they are.
func (n Needs) Coarse() Needs {
	n.Mem, n.MaxMem, n.TimeLimit, n.MaxTimeLimit = Steps(n.Mem, needsGrains), Steps(n.MaxMem, needsGrains), Steps(n.TimeLimit, needsGrains), Steps(n.MaxTimeLimit, needsGrains)
	return n
}

// needsGrains is the number of steps in which memory and time limit double.
const needsGrains = 8

// Steps rounds v up to a multiple of a step; there are count steps, a power of two, while v doubles.
func Steps[T ~int64](v T, count int) T {
	step := T(1) << max(0, bits.Len64(uint64(v))-bits.Len64(uint64(count)))
	return (v + step - 1) / step * step
}

// NeedsCount returns how many different needs the tasks of the job can have: two in a MapReduce job, for maps and reduces.
func (w *Work) NeedsCount() int {
	if w.Kind == MapReduce {
		return 2
	}
	return 1 + len(w.Further)
}

// NeedsAt returns needs of the job by their index: of maps 0 and of reduces 1; in a bag 0 for the bag's, then those of Further.
func (w *Work) NeedsAt(i int) Needs {
	t := &w.Terms
	if w.Kind == MapReduce && i == 1 {
		return (&Terms{Need: t.ReduceNeed, Attempts: t.ReduceAttempts}).Needs()
	}
	bag := t.Needs()
	if i == 0 {
		return bag
	}
	return w.Further[i-1].In(bag)
}

// Needs returns the needs of maps, or of the tasks of a bag that have none of their own.
func (t *Terms) Needs() Needs {
	return Needs{CPUs: t.Need.CPUs, Mem: t.Need.Mem, MaxMem: t.MaxMem, AutoMem: t.AutoMem, GPUs: t.Need.GPUs, GPUShare: t.Need.GPUShare, GPUType: t.Need.GPUType,
		TimeLimit: t.TimeLimit, MaxTimeLimit: t.MaxTimeLimit, Attempts: t.Attempts, Gang: t.Gang, Uses: t.Uses}
}

// Needs returns the needs of the tasks that have none of their own.
func (b *BagSpec) Needs() Needs {
	t := b.terms()
	return t.Needs()
}

// Left returns how many tasks of the job have which needs, before any has started.
func (w *Work) Left() []NeedsLeft {
	left := make([]NeedsLeft, w.NeedsCount())
	for i := range left {
		left[i].Needs = w.NeedsAt(i)
	}
	left[0].Waiting = w.Tasks
	if w.Kind == MapReduce {
		left[1].Waiting = w.Reduces
	}
	for _, r := range w.Which {
		left[0].Waiting -= int(r.Tasks)
		left[r.Index].Waiting += int(r.Tasks)
	}
	return left
}

// CheckRuns returns an error for runs of more than that many tasks, or with an index that is not below kinds.
func CheckRuns(runs []NeedsRun, tasks, kinds int) error {
	for _, r := range runs {
		if tasks -= int(r.Tasks); r.Tasks < 1 || tasks < 0 || int(r.Index) >= kinds {
			return fmt.Errorf("impossible needs of tasks: %d with the index %d", r.Tasks, r.Index)
		}
	}
	return nil
}

// NeedsList collects the different needs of tasks, and which task has which.
type NeedsList struct {
	Further []Needs // without those of the bag, which have the index 0
	Which   []NeedsRun
	index   map[Needs]uint16
}

// Add adds the next task, with needs of its own.
func (l *NeedsList) Add(n Needs) {
	i, ok := l.index[n]
	if !ok && n != (Needs{}) {
		if l.index == nil {
			l.index = make(map[Needs]uint16)
		}
		l.Further = append(l.Further, n)
		i = uint16(min(len(l.Further), MaxNeeds))
		l.index[n] = i
	}
	if last := len(l.Which) - 1; last >= 0 && l.Which[last].Index == i {
		l.Which[last].Tasks++
		return
	}
	l.Which = append(l.Which, NeedsRun{1, i})
}

// Runs returns which of the tasks have which needs, nothing if all have those of the bag.
func (l *NeedsList) Runs() []NeedsRun {
	if len(l.Further) == 0 {
		return nil
	}
	return l.Which
}
