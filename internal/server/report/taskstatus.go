package report

import "berth/internal/core/job"

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
}

// Tasks returns the tasks of the job. need returns what a task needs; ok is false for what the records say.
func (j *Job) Tasks(need func(i int) (r job.Resources, ok bool)) []TaskStatus {
	all := make([]TaskStatus, len(j.tasks.table))
	for i, t := range j.tasks.table {
		r, ok := need(i)
		if !ok {
			r = j.tasks.needsOf(i).Resources()
		}
		state := "running"
		switch t.pos {
		case posWaiting:
			state = "waiting"
		case posDone:
			state = "done"
		case posFailed:
			state = "failed"
		}
		all[i] = TaskStatus{Task: i, Name: j.taskName(i), State: state, CPUs: r.CPUs, Mem: r.Mem, GPUs: r.GPUs, GPUType: r.GPUType}
	}
	return all
}
