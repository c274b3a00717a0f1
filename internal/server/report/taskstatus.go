package report

import (
	"cmp"
	"iter"
	"strconv"
	"time"

	"berth/internal/core/job"
)

// JobStatus is the short view of one job with its tasks, the output of `berth status JOB --json`, which writes the tasks one at a time.
type JobStatus struct {
	Status
	Tasks []TaskStatus `json:"tasks"` // the job's tasks, in order
}

// TaskStatus is one task of a job.
type TaskStatus struct {
	Task     int    `json:"task"`                // index of the task, from 0; reduces come after the maps
	Name     string `json:"name"`                // as in *watch*
	State    string `json:"state"`               // `waiting`, `running`, `done`, `failed` or `cancelled`
	CPUs     int    `json:"cpus"`                // cores that the task needs
	Mem      int64  `json:"mem_bytes"`           // memory that it needs when it starts the next time; 0: none is reserved
	GPUs     int    `json:"gpus"`                // GPUs that it needs
	GPUShare int    `json:"gpu_share,omitempty"` // thousandths of its one GPU that it needs, which others share; may be absent: all
	GPUType  string `json:"gpu_type,omitempty"`  // type of these GPUs; may be absent: any
	Ranks    int    `json:"ranks,omitempty"`     // of which the values above are those of each; may be absent: it is one process
	Tries    []Try  `json:"tries"`               // its attempts, in the order in which they began
}

// Try is an attempt of a task. What is known only at its end is absent while it runs.
type Try struct {
	Attempt int       `json:"attempt"` // 1 for the first
	Node    string    `json:"node"`
	Host    string    `json:"host"`      // name of the machine; empty: not known
	Mem     int64     `json:"mem_bytes"` // memory that it may use; 0: not limited
	Started time.Time `json:"started"`
	Outcome string    `json:"outcome,omitempty"`        // as in *tasks*; may be absent: it runs
	Lack    string    `json:"lack,omitempty"`           // as in *tasks*
	Why     string    `json:"why,omitempty"`            // one line
	PeakMem int64     `json:"peak_mem_bytes,omitempty"` // may be absent: not known
	Seconds float64   `json:"seconds,omitempty"`        // how long it took; may be absent: it runs
}

// stateOf returns the word for the state of a task at a position.
func (j *Job) stateOf(i int, pos uint8) string {
	switch {
	case pos == posWaiting:
		return "waiting"
	case pos == posDone:
		return "done"
	case pos == posFailed && j.cancelled[int32(i)]:
		return "cancelled"
	case pos == posFailed:
		return "failed"
	}
	return "running"
}

// States returns a word for the state of each of some tasks; of those that the job left when it ended that is what the job is.
func (j *Job) States(tasks []int) []string {
	words := make([]string, len(tasks))
	for k, i := range tasks {
		pos := j.tasks.table[i].pos
		if words[k] = j.stateOf(i, pos); pos < posDone && j.state.Final() {
			words[k] = string(j.state)
		}
	}
	return words
}

// Find returns the tasks with these names.
func (j *Job) Find(names []string) ([]int, error) {
	return FindTasks(j.info.ID, names, len(j.tasks.table), j.TaskName)
}

// FindTasks returns the tasks with these names, of so many of a job. A number is looked for at its place first, as most tasks have no other name.
func FindTasks(id job.ID, names []string, tasks int, nameOf func(task int) string) ([]int, error) {
	found := make([]int, len(names))
	at := map[string]int{} // by name that is not at its place
	for k, name := range names {
		if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= tasks && nameOf(n-1) == name {
			found[k] = n - 1
		} else {
			found[k], at[name] = -1, -1
		}
	}
	for i := 0; i < tasks && len(at) > 0; i++ {
		name := nameOf(i)
		if _, wanted := at[name]; wanted {
			at[name] = i
		}
	}
	for k, name := range names {
		if found[k] < 0 {
			found[k] = at[name]
		}
		if found[k] < 0 {
			return nil, job.ArgumentError(string(id), "it has no task "+name, "tasks are named as in berth report "+string(id)+" --tasks")
		}
	}
	return found, nil
}

// Tasks returns the tasks of the job, or some of them, one at a time, with the attempts that Info.Tries got and those that run. need returns
// what a task needs; ok is false for what the records say, as it is if need is nil. It is called once, with no records after it.
func (j *Job) Tasks(some []int, need func(i int) (r job.Resources, ok bool)) iter.Seq[TaskStatus] {
	tries := j.info.Tries
	for _, a := range j.allRunning() {
		if tries != nil {
			tries.add(a.id, Try{Node: string(a.node), Host: j.host(a.node)}, a.mem, a.started, 0, 0)
		}
	}
	n := len(some)
	if some == nil {
		n = len(j.tasks.table)
	}
	return func(yield func(TaskStatus) bool) {
		for i := range n {
			if some != nil {
				i = some[i]
			}
			needs := j.tasks.needsOf(i)
			r := needs.Resources()
			if need != nil {
				if own, ok := need(i); ok {
					r = own
				}
			}
			r.Mem = cmp.Or(j.mem[int32(i)], j.memOf[j.tasks.needs.At(i)], r.Mem)
			if !yield(TaskStatus{Task: i, Name: j.TaskName(i), State: j.stateOf(i, j.tasks.table[i].pos), CPUs: r.CPUs, Mem: r.Mem, GPUs: r.GPUs, GPUShare: r.GPUShare, GPUType: r.GPUType,
				Ranks: needs.Ranks, Tries: tries.of(i)}) {
				return
			}
		}
	}
}
