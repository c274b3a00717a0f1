package step

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Input is an event that the engine handles: from a user, a worker, a driver or the clock.
// It is one of the types of this file.
type Input any

// Submit asks to run a job.
type Submit struct{ Work job.Work }

// Cancel asks to stop a job, or some tasks of a bag; tasks that are done stay done.
type Cancel struct {
	Job    job.ID
	Reason string
	Tasks  []int32 // nil: the job
}

// Resume asks to continue a job that ended; with Failed its failed tasks are tried again.
type Resume struct{ event.JobResumed }

// Set asks to change the terms of a job that is not over.
type Set struct{ event.TermsChanged }

// SetLimits says how much all jobs together may use of what they share, by name (job.Uses). It is no record: who starts an engine knows the limits.
type SetLimits struct{ Limits map[string]int }

// Add asks to add tasks to an open bag.
type Add struct{ event.TasksAdded }

// Close says that no more tasks are added to an open bag.
type Close struct{ Job job.ID }

// Finalized answers the action Finalize: the job's output as a whole is committed, or not.
type Finalized struct {
	Job    job.ID
	Failed bool
	Reason string // if Failed
}

// FromWorker is a message of a node's worker about an attempt: PhaseEntered, GrantWanted,
// CommitWanted, Asks, AttemptEnded or FetchFailed. The engine refuses it unless the attempt belongs
// to that node, so a worker can only report on its own attempts. Inputs without this wrapper
// come from trusted sources.
type FromWorker struct {
	Node  job.NodeID
	Input Input
}

// Subject returns the attempt that the message is about.
func (s FromWorker) Subject() (id job.Attempt, ok bool) {
	switch in := s.Input.(type) {
	case PhaseEntered:
		return in.Attempt, true
	case GrantWanted:
		return in.Attempt, true
	case CommitWanted:
		return in.Attempt, true
	case Asks:
		return in.Attempt, true
	case AttemptEnded:
		return in.Attempt, true
	case FetchFailed:
		return in.By, true
	}
	return job.Attempt{}, false
}

// NodeUp says that a worker took over its node, for the first time or again, and
// what it has: attempts that run or whose end it has yet to report, and complete map
// outputs.
type NodeUp struct {
	event.NodeJoined
	Running []job.Attempt
	Held    []job.Attempt
}

// NodeDown says that a worker does not answer (it may come back), or that it and
// all its map outputs are Gone.
type NodeDown struct {
	Node   job.NodeID
	Gone   bool
	Dead   bool // the worker process is known to be dead, and so are all processes of its attempts
	Reason string
}

// PhaseEntered says that an attempt began a phase.
type PhaseEntered struct {
	event.PhaseEntered `msgpack:",inline"`
}

// Progress is the progress of the attempts on a node, as its worker reports it every few seconds. It is
// no record: after a coordinator's death workers report it again. Reports on attempts of another node are ignored.
type Progress struct {
	Node job.NodeID
	Of   []job.Progress
}

// GrantWanted says that an attempt has completed the phases of its grant and asks for the next one.
type GrantWanted struct {
	Attempt job.Attempt `msgpack:"a"`
	Phase   job.Phase   `msgpack:"p"` // the phase that it wants to enter
}

// CommitWanted says that an attempt's output is complete and that the attempt asks to commit it.
type CommitWanted struct {
	Attempt job.Attempt `msgpack:"a"`
	Files   []uint64    `msgpack:"f,omitempty"` // numbers that stand for the paths of its files (files.PathNumber); nil: no other job can write them
}

// Asks answers the action Ask. An attempt that puts files into place at that time does not answer: its end follows.
type Asks struct {
	Attempt job.Attempt `msgpack:"a"`
}

// AttemptEnded says how an attempt ended.
type AttemptEnded struct {
	event.AttemptEnded `msgpack:",inline"`
}

// FetchFailed says that a reduce attempt could not fetch, or not verify, its segment of a map's output.
type FetchFailed struct {
	By     job.Attempt `msgpack:"b"`           // the reduce attempt
	Map    job.Attempt `msgpack:"m"`           // whose output it was
	Addr   string      `msgpack:"a,omitempty"` // where it tried to fetch it; empty: on its own node
	Reason string      `msgpack:"r"`
}

// AllocDown says that an allocation is over or was refused, and why.
type AllocDown struct {
	Alloc  job.AllocID
	Reason string
	// Refuse says that such an allocation is impossible: the jobs that requested it fail, unless
	// another allocation serves them.
	Refuse bool
	How    event.AllocEnd
	Bad    string // see event.AllocEnded
}

// AllocUp says that the batch system has started an allocation.
type AllocUp struct {
	Alloc job.AllocID
	Ends  job.Time // end of its wall time; 0: it has no end
}

// AllocNote says what an allocation waits for, as text for people. Only Suspended has an effect.
type AllocNote struct {
	Alloc job.AllocID
	Note  string
	Start job.Time // start that the batch system expects; 0: unknown
	// Suspended says that the batch system has stopped the processes of the allocation, and will let them go on.
	Suspended bool
}

// Planned answers the action Plan.
type Planned struct {
	Job job.ID
	job.Answer
}

// Found answers the action Seek.
type Found struct {
	Job    job.ID
	State  event.State // the state in which the job ended; empty: there is no such job
	Reason string      // why it failed or was cancelled
}

// Cleared answers the action Clear: all remains of the allocation are removed.
type Cleared struct{ Alloc job.AllocID }

// Tick fires the timeouts that are due.
type Tick struct{}
