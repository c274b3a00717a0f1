package report

import (
	"fmt"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Event is something that happened to a job or to one of its tasks, a line of `berth watch --json`. Values that do not apply are absent.
type Event struct {
	Seq   int64     `json:"seq"` // number of the line, from 0 and without gaps
	At    time.Time `json:"at"`
	Event string    `json:"event"` // `queued`, `started`, `ended`, `skipped`, `cancelled`; of jobs `closed`, `set`, `resumed`, `over`

	Task    *int   `json:"task,omitempty"`      // index of the task, from 0; may be absent: the event is one of the job
	Name    string `json:"name,omitempty"`      // what the task is called
	Attempt int    `json:"attempt,omitempty"`   // of `started` and `ended`
	Mem     int64  `json:"mem_bytes,omitempty"` // of `started` and `ended`: memory that the attempt may use; may be absent: not limited
	Node    string `json:"node,omitempty"`      // likewise
	Host    string `json:"host,omitempty"`      // name of the machine; may be absent: not known

	Shares []ShareView `json:"shares,omitempty"` // of `started` and `ended`

	// Of an attempt that has ended. Final says that its task is over: it is done, or has failed and is not started again.
	Outcome string   `json:"outcome,omitempty"`        // of `ended`, as in *tasks*
	Final   bool     `json:"final,omitempty"`          // the task is over: done, or failed for good; may be absent: it is not
	Exit    *int     `json:"exit,omitempty"`           // exit code of the task's program
	Signal  int      `json:"signal,omitempty"`         // number of the signal that ended the program
	PeakMem int64    `json:"peak_mem_bytes,omitempty"` // may be absent: not known
	Lack    string   `json:"lack,omitempty"`           // as in *tasks*
	CPUS    *float64 `json:"cpu_s,omitempty"`          // user and system time
	Elapsed *float64 `json:"elapsed_s,omitempty"`      // from the start of the attempt to its end

	State string `json:"state,omitempty"` // of `over`: the state of the job
	Why   string `json:"why,omitempty"`   // one line
}

// Events makes the events of a job from its records, in their order and always the same ones.
type Events struct {
	Job  *Job
	each func(Event) error
	rows []AttemptRow // of the entry that is being applied
	next int64
}

// NewEvents returns the events of no records. each is called for every event.
func NewEvents(in Info, each func(Event) error) *Events {
	e := &Events{each: each}
	in.OnAttempt = func(r AttemptRow) { e.rows = append(e.rows, r) }
	e.Job = New(in)
	return e
}

// Apply applies the next entry, and returns the first error of each.
func (e *Events) Apply(ent event.Entry) error {
	if e.rows = e.rows[:0]; ent.Record.Of() != e.Job.info.ID {
		return nil
	}
	before, next := len(e.Job.tasks.table), e.Job.next(ent.Record)
	e.Job.Apply(ent)
	switch r := ent.Record.(type) {
	case event.JobSubmitted, event.TasksAdded:
		for i := before; i < len(e.Job.tasks.table); i++ {
			if err := e.tell(e.ofTask(ent.At, "queued", i)); err != nil {
				return err
			}
		}
	case event.AttemptStarted:
		return e.started(ent.At, e.Job.running(r.Attempt))
	case event.AttemptEnded:
		if err := e.ended(); err != nil {
			return err
		}
		return e.started(ent.At, next)
	case event.TasksSkipped:
		return e.givenUp(ent.At, "skipped", r.Tasks, fmt.Sprintf("task %s, which it comes after, has failed", e.Job.TaskName(int(r.Because))))
	case event.TasksCancelled:
		return e.givenUp(ent.At, "cancelled", r.Tasks, r.Reason)
	case event.BagClosed:
		return e.tell(Event{At: ent.At.Std(), Event: "closed"})
	case event.JobResumed:
		return e.tell(Event{At: ent.At.Std(), Event: "resumed"})
	case event.TermsChanged:
		return e.tell(Event{At: ent.At.Std(), Event: "set"})
	case event.JobEnded:
		return e.tell(Event{At: ent.At.Std(), Event: "over", State: string(r.State), Why: e.Job.reason})
	}
	return nil
}

func (e *Events) tell(v Event) error {
	v.Seq = e.next
	e.next++
	return e.each(v)
}

// next returns the attempt that begins with the end of another one, as it is behind that; nil if there is none. Those behind a lost one are
// lost with it.
func (j *Job) next(r event.Record) *attempt {
	end, is := r.(event.AttemptEnded)
	if !is || end.Outcome == event.Lost {
		return nil
	}
	if a := j.running(end.Attempt); a != nil {
		return a.follower
	}
	return nil
}

// started tells that an attempt has begun; nil: none has.
func (e *Events) started(at job.Time, a *attempt) error {
	if a == nil {
		return nil
	}
	v := e.ofTask(at, "started", a.id.Task)
	v.Attempt, v.Mem, v.Node, v.Host = a.id.N, a.mem, string(a.node), e.Job.host(a.node)
	v.Shares = e.Job.shares(a)
	return e.tell(v)
}

// ofTask returns an event of a task.
func (e *Events) ofTask(at job.Time, event string, task int) Event {
	return Event{At: at.Std(), Event: event, Task: &task, Name: e.Job.TaskName(task)}
}

func (e *Events) ended() error {
	for _, r := range e.rows {
		v := Event{At: r.Ended, Event: "ended", Task: &r.Task, Name: r.Name, Attempt: r.Attempt, Node: r.Node, Host: r.Host, Shares: r.Shares,
			Outcome: r.Outcome, Exit: &r.Exit, Signal: r.Signal, Mem: r.Mem, Lack: r.Lack, CPUS: new(float64), Elapsed: &r.Seconds, Why: r.Reason}
		for _, p := range r.Phases {
			v.PeakMem = max(v.PeakMem, p.PeakMem)
			*v.CPUS += p.CPUS
		}
		v.Final = e.Job.tasks.table[r.Task].pos >= posDone
		if err := e.tell(v); err != nil {
			return err
		}
	}
	return nil
}

// givenUp tells which tasks are not started any more. It is final for those that do not run: the attempts of the others are told to end.
func (e *Events) givenUp(at job.Time, event string, tasks []int32, why string) error {
	for _, i := range tasks {
		if v := e.ofTask(at, event, int(i)); e.Job.tasks.has(int(i)) {
			v.Final, v.Why = e.Job.tasks.table[i].pos >= posDone, why
			if err := e.tell(v); err != nil {
				return err
			}
		}
	}
	return nil
}
