package report

import (
	"slices"
	"time"

	"berth/internal/event"
)

// maxFailures is how many of the last failures a view carries, maxSlow how many slow tasks.
const (
	maxFailures = 20
	maxSlow     = 10
)

// Failure is an attempt that failed, by its own program or by the machine.
type Failure struct {
	Seq     uint64    `json:"seq"`  // place in the order of all records; later failures have greater ones
	Task    int       `json:"task"` // index in the job's task table, from 0; reduces come after the maps
	Name    string    `json:"name"`
	Input   string    `json:"input,omitempty"` // what the task works on: a bag's entry, or FILE:OFFSET+LENGTH
	Attempt int       `json:"attempt"`         // 1 for the first
	Left    int       `json:"left"`            // how often the task is still tried again
	Final   bool      `json:"final"`           // the task has failed, it is not tried again
	Node    string    `json:"node"`
	Host    string    `json:"host"`
	At      time.Time `json:"at"`
	Exit    int       `json:"exit"`
	Signal  int       `json:"signal"` // 0: none
	Reason  string    `json:"reason"`
	Stderr  string    `json:"stderr"`                   // the last lines
	File    string    `json:"stderr_file,omitempty"`    // all of them
	Command string    `json:"stderr_command,omitempty"` // prints all of them, where no file has them alone
}

// recent keeps the last of some things and counts all.
type recent[T any] struct {
	total int
	last  []T
}

// add takes one more, and keeps no more than most.
func (r *recent[T]) add(x T, most int) {
	r.total++
	r.last = append(r.last, x)
	r.last = slices.Delete(r.last, 0, max(len(r.last)-most, 0))
}

// noteFailure keeps an attempt that failed; the task's position is the new one already.
func (j *Job) noteFailure(e event.Entry, r event.AttemptEnded, a *attempt) {
	if r.Outcome != event.Failed && r.Outcome != event.Broken {
		return
	}
	task := r.Attempt.Task
	f := Failure{
		Seq: e.Seq, Task: task, Name: j.taskName(task), Input: j.taskInput(task), Attempt: r.Attempt.N, Left: j.tasks.left(task),
		Final: j.tasks.table[task].pos == posFailed,
		Node:  string(a.node), Host: j.info.Nodes.host(a.node), At: e.At.Std(),
		Exit: r.Exit, Signal: r.Signal, Reason: r.Reason, Stderr: r.Stderr,
	}
	if r.Outcome == event.Broken {
		f.Left = 0 // the job stops
	}
	if j.info.StderrFile != nil {
		f.File = j.info.StderrFile(task)
	}
	if j.info.StderrCommand != nil {
		f.Command = j.info.StderrCommand(task)
	}
	j.failed.add(f, maxFailures)
}

// TaskTime is how long a task's good attempt took.
type TaskTime struct {
	Task    int     `json:"task"`
	Name    string  `json:"name"`
	Input   string  `json:"input,omitempty"`
	Attempt int     `json:"attempt"`
	Seconds float64 `json:"seconds"`
}

// slowest keeps the tasks that took longest, longest first.
type slowest []TaskTime

// wants reports whether a task that took so many seconds is among them.
func (s slowest) wants(seconds float64) bool {
	return len(s) < maxSlow || s[maxSlow-1].Seconds < seconds
}

func (s *slowest) add(t TaskTime) {
	at, _ := slices.BinarySearchFunc(*s, t, func(have, want TaskTime) int {
		if have.Seconds >= want.Seconds {
			return -1
		}
		return 1
	})
	*s = slices.Insert(*s, at, t)
	if len(*s) > maxSlow {
		*s = (*s)[:maxSlow]
	}
}
