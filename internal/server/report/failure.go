package report

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// maxRecent and maxSlow are the numbers of failures, plans and the like, and of slow tasks in a view.
const (
	maxRecent = 20
	maxSlow   = 10
)

// Failure is an attempt that failed, by its own program or by the machine.
type Failure struct {
	Seq     uint64    `json:"seq"`             // sequence number; later failures have greater numbers
	Task    int       `json:"task"`            // index of the task, from 0; reduces come after the maps
	Name    string    `json:"name"`            // what the task is called
	Input   string    `json:"input,omitempty"` // what the task works on, see docs/json.md
	Attempt int       `json:"attempt"`         // 1 for the task's first
	Left    int       `json:"left"`            // number of attempts that the task has left
	Final   bool      `json:"final"`           // the task has failed for good
	Node    string    `json:"node"`
	Host    string    `json:"host"` // name of the machine; empty: not known
	At      time.Time `json:"at"`
	Exit    int       `json:"exit"`                     // exit code of the task's program
	Signal  int       `json:"signal"`                   // number of the signal that ended the program; 0: none
	Reason  string    `json:"reason"`                   // one line
	Stderr  string    `json:"stderr"`                   // the last lines of standard error
	File    string    `json:"stderr_file,omitempty"`    // file with all of standard error
	Command string    `json:"stderr_command,omitempty"` // the command that prints all of standard error; may be absent: there is a file
}

// recent contains the last elements of a sequence and the number of all.
type recent[T any] struct {
	total int
	last  []T
}

// add appends an element and keeps at most maxRecent of them.
func (r *recent[T]) add(x T) {
	r.total++
	r.last = append(r.last, x)
	r.last = slices.Delete(r.last, 0, max(len(r.last)-maxRecent, 0))
}

// noteFailure adds a failed attempt to the failures. The task has its new position already.
func (j *Job) noteFailure(r *ending) {
	if r.Outcome != event.Failed && r.Outcome != event.Broken {
		return
	}
	task := r.Attempt.Task
	f := Failure{
		Seq: r.Seq, Task: task, Name: j.TaskName(task), Input: j.taskInput(task), Attempt: r.Attempt.N, Left: j.tasks.left(task),
		Final: r.task.pos == posFailed,
		Node:  string(r.node), Host: j.host(r.node), At: r.At.Std(),
		Exit: r.Exit, Signal: r.Signal, Reason: r.Reason, Stderr: r.Stderr,
	}
	if r.Outcome == event.Broken {
		f.Left = 0 // the job stops
	}
	if j.info.Stderr != nil {
		f.File, f.Command = j.info.Stderr(task)
	}
	j.failed.add(f)
}

// noteStraggler adds an attempt that was killed as it was slow, or as another one had done its task.
func (j *Job) noteStraggler(r *ending) {
	if r.Outcome == event.Killed && (r.Slow || r.task.pos == posDone) {
		j.sums.ended.add(fmt.Sprintf("%s, attempt %d on %s, after %s: %s", j.called(r.Attempt.Task), r.Attempt.N, cmp.Or(j.host(r.node), string(r.node)),
			job.Seconds(r.seconds).Round(time.Second/10), r.Reason))
	}
}

// warn adds what the user should know of a task.
func (j *Job) warn(task int, text string) {
	j.warned.add(j.called(task) + ": " + text)
}

// called returns what people call a task within a sentence.
func (j *Job) called(task int) string {
	if j.work.Kind == job.Bag {
		return "task " + j.TaskName(task)
	}
	return j.TaskName(task)
}

// maxNames is how many files of a job are known by the tasks that left them.
const maxNames = 1 << 20

// noteOutputs finds files that another task has left, too: one of the two has replaced the other's.
func (j *Job) noteOutputs(r event.AttemptEnded) {
	task, same, others := int32(r.Attempt.Task), "", 0
	for _, name := range r.Outputs {
		hash := fnv.New64a()
		_, _ = io.WriteString(hash, name) // never fails
		key := hash.Sum64()
		was, known := j.leftBy[key]
		switch {
		case known && was != task && same == "":
			same = fmt.Sprintf("it and task %s left the same file, %s, of which one is in place", j.TaskName(int(was)), name)
		case known && was != task:
			others++
		}
		if known || len(j.leftBy) < maxNames {
			j.leftBy[key] = task
		}
	}
	if others > 0 {
		same += ", and " + job.Count(others, "more file")
	}
	if same != "" {
		j.warn(int(task), same+"; name files by {#}")
	}
}

// TaskTime is the duration of the attempt that did a task.
type TaskTime struct {
	Task    int     `json:"task"`            // index of the task, from 0; reduces come after the maps
	Name    string  `json:"name"`            // what the task is called
	Input   string  `json:"input,omitempty"` // as in `failures`
	Attempt int     `json:"attempt"`         // 1 for the task's first
	Seconds float64 `json:"seconds"`
}

// slowest contains the slowest tasks, the slowest first.
type slowest []TaskTime

// wants reports whether a task with this duration belongs to them.
func (s slowest) wants(seconds float64) bool {
	return len(s) < maxSlow || s[maxSlow-1].Seconds < seconds
}

func (s *slowest) add(t TaskTime) {
	*s = append(*s, t)
	slices.SortStableFunc(*s, func(a, b TaskTime) int { return cmp.Compare(b.Seconds, a.Seconds) })
	*s = (*s)[:min(len(*s), maxSlow)]
}
