package report

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/job"
)

// JobStatus is the short view of one job with its tasks, used by `berth status JOB --json`.
type JobStatus struct {
	Status
	Tasks []TaskStatus `json:"tasks"`
}

// TaskStatus is one task of a job.
type TaskStatus struct {
	Task    int    `json:"task"` // index in the job's task table, from 0; reduces come after the maps
	Name    string `json:"name"`
	State   string `json:"state"` // waiting, running, done, failed
	CPUs    int    `json:"cpus"`
	Mem     int64  `json:"mem_bytes"` // 0: none is reserved
	GPUs    int    `json:"gpus"`
	GPUType string `json:"gpu_type,omitempty"`
	Tries   []Try  `json:"tries"` // its attempts
}

// Try is an attempt of a task. What is known only at its end is absent while it runs.
type Try struct {
	Attempt int       `json:"attempt"`
	Node    string    `json:"node"`
	Host    string    `json:"host"`
	Mem     int64     `json:"mem_bytes"` // that it may use; 0: not limited
	Started time.Time `json:"started"`
	Outcome string    `json:"outcome,omitempty"` // as of AttemptRow
	Lack    string    `json:"lack,omitempty"`
	Why     string    `json:"why,omitempty"`
	PeakMem int64     `json:"peak_mem_bytes,omitempty"`
	Seconds float64   `json:"seconds,omitempty"`
}

// tries returns the attempts of each task, in order: those that are over and those that run.
func (j *Job) tries(over []AttemptRow) [][]Try {
	all := make([][]Try, len(j.tasks.table))
	for _, r := range over {
		t := Try{Attempt: r.Attempt, Node: r.Node, Host: r.Host, Mem: r.Mem, Started: r.Started, Outcome: r.Outcome, Lack: r.Lack, Why: r.Reason, Seconds: r.Seconds}
		for _, p := range r.Phases {
			t.PeakMem = max(t.PeakMem, p.PeakMem)
		}
		all[r.Task] = append(all[r.Task], t)
	}
	for k, a := range j.live {
		all[k.task] = append(all[k.task], Try{Attempt: int(k.n), Node: string(a.node), Host: j.info.Nodes.host(a.node), Mem: a.mem, Started: a.started.Std()})
	}
	for i, tries := range all {
		slices.SortStableFunc(tries, func(a, b Try) int { return cmp.Compare(a.Attempt, b.Attempt) })
		all[i] = append([]Try{}, tries...)
	}
	return all
}

// Tasks returns the tasks of the job. over has its attempts that are over. need returns what a task needs; ok is false for what the records say.
func (j *Job) Tasks(over []AttemptRow, need func(i int) (r job.Resources, ok bool)) []TaskStatus {
	all := make([]TaskStatus, len(j.tasks.table))
	tries := j.tries(over)
	for i, t := range j.tasks.table {
		r, ok := need(i)
		if !ok {
			r = j.tasks.needsOf(i).Resources()
		}
		r.Mem = cmp.Or(j.mem[int32(i)], j.memOf[j.tasks.needs.At(i)], r.Mem)
		state := "running"
		switch t.pos {
		case posWaiting:
			state = "waiting"
		case posDone:
			state = "done"
		case posFailed:
			state = "failed"
		}
		all[i] = TaskStatus{Task: i, Name: j.taskName(i), State: state, CPUs: r.CPUs, Mem: r.Mem, GPUs: r.GPUs, GPUType: r.GPUType, Tries: tries[i]}
	}
	return all
}
