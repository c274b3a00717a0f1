package step

import (
	"berth/internal/event"
	"berth/internal/job"
)

// Input is something the engine is told: by a user, a worker, a driver or the clock.
type Input interface{ input() }

// Submit asks for a job to be run.
type Submit struct{ Work job.Work }

// Cancel asks for a job to be stopped; what is done stays done.
type Cancel struct {
	Job    job.ID
	Reason string
}

// Resume asks for a job that ended to go on; with Failed its failed tasks are tried anew.
type Resume struct{ event.JobResumed }

// Finalized answers the action Finalize: the job's output as a whole is committed, or not.
type Finalized struct {
	Job    job.ID
	Failed bool
	Reason string // when Failed
}

// Said is what the worker of a node says of an attempt: PhaseEntered, GrantWanted,
// CommitWanted, AttemptEnded or FetchFailed. It is refused unless the attempt is that
// node's, whatever the worker claims: a worker speaks for itself alone. Inputs that are
// not wrapped so come from where that is known.
type Said struct {
	Node  job.NodeID
	Input Input
}

// Subject returns the attempt of which a worker says something.
func (s Said) Subject() (id job.Attempt, ok bool) {
	switch in := s.Input.(type) {
	case PhaseEntered:
		return in.Attempt, true
	case GrantWanted:
		return in.Attempt, true
	case CommitWanted:
		return in.Attempt, true
	case AttemptEnded:
		return in.Attempt, true
	case FetchFailed:
		return in.By, true
	}
	return job.Attempt{}, false
}

// NodeUp says that a worker took up its node, for the first time or again, and
// what it has: attempts that run or whose end it has yet to tell, and map outputs
// that it holds intact.
type NodeUp struct {
	event.NodeJoined
	Running []job.Attempt
	Held    []job.Attempt
}

// NodeDown says that a worker does not answer (it may come back), or that it and
// all it holds are Gone.
type NodeDown struct {
	Node   job.NodeID
	Gone   bool
	Dead   bool // the worker process is known to be dead, so its attempts are too
	Reason string
}

// PhaseEntered says that an attempt began a phase.
type PhaseEntered struct {
	Attempt job.Attempt
	Phase   job.Phase
}

// Progress is how far attempts are that run on a node, by their worker's word: each is told every few seconds, in one input a
// node. It is no record: after a coordinator's death workers tell anew. An attempt of another node is not believed.
type Progress struct {
	Node job.NodeID
	Of   []job.Progress
}

// GrantWanted says that an attempt is through with the phases it had a grant for and wants the next.
type GrantWanted struct {
	Attempt job.Attempt
	Phase   job.Phase // the one it wants
}

// CommitWanted says that an attempt's output is complete and waits to be put into place.
type CommitWanted struct{ Attempt job.Attempt }

// AttemptEnded says how an attempt ended.
type AttemptEnded struct{ event.AttemptEnded }

// FetchFailed says that a reduce attempt could not fetch, or not trust, its segment of a map's output.
type FetchFailed struct {
	By     job.Attempt // the reduce attempt
	Map    job.Attempt // whose output it was
	Addr   string      // where it was looked for; empty: on its own node
	Reason string
}

// AllocDown says that an allocation is over or was refused, and why.
type AllocDown struct {
	Alloc  job.AllocID
	Reason string
	// Refuse says that it cannot be had at all: the jobs that it was asked for fail, unless
	// another allocation serves them.
	Refuse bool
}

// AllocUp says that the batch system has started an allocation.
type AllocUp struct {
	Alloc job.AllocID
	Ends  job.Time // when its wall time is over; 0: it has no end
}

// AllocNote says what an allocation waits for, for people; it changes nothing else.
type AllocNote struct {
	Alloc job.AllocID
	Note  string
	Start job.Time // when it is expected to begin, by the batch system; 0: unknown
}

// Planned answers the action Plan.
type Planned struct {
	Job job.ID
	job.Answer
}

// Found answers the action Seek.
type Found struct {
	Job    job.ID
	State  event.State // in which the job has ended; empty: there is no such job
	Reason string      // why it failed or was cancelled
}

// Cleared answers the action Clear: all that was left of the allocation is gone.
type Cleared struct{ Alloc job.AllocID }

// Tick lets time pass.
type Tick struct{}

func (Submit) input()       {}
func (Said) input()         {}
func (Cancel) input()       {}
func (Resume) input()       {}
func (Finalized) input()    {}
func (NodeUp) input()       {}
func (NodeDown) input()     {}
func (Progress) input()     {}
func (PhaseEntered) input() {}
func (GrantWanted) input()  {}
func (CommitWanted) input() {}
func (AttemptEnded) input() {}
func (FetchFailed) input()  {}
func (AllocDown) input()    {}
func (AllocUp) input()      {}
func (AllocNote) input()    {}
func (Planned) input()      {}
func (Found) input()        {}
func (Cleared) input()      {}
func (Tick) input()         {}
