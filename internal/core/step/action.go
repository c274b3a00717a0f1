package step

import (
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Action is something that the engine wants to be done, after the records of the same step are durable.
// It is one of the types of this file, and a Performer has a method for each.
type Action any

// Start starts an attempt on a node.
type Start struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"-"`
	Through job.Phase   `msgpack:"l"`           // it may run up to and including this phase
	Commit  bool        `msgpack:"c,omitempty"` // it may commit without asking
	// Expected is the expected time of such a task; 0: unknown.
	Expected time.Duration `msgpack:"x,omitempty"`
	// Mem and TimeLimit are what a bag's task may use; 0: as its job says.
	Mem       int64         `msgpack:"m,omitempty"`
	TimeLimit time.Duration `msgpack:"t,omitempty"`
	// Behind is the attempt on the node after whose end it begins; zero: it begins at once.
	Behind job.Attempt `msgpack:"b,omitempty"`
	// Unbegun is how many earlier attempts of the task were given back before they began, which its program does not hear of.
	Unbegun int  `msgpack:"u,omitempty"`
	Asks    bool `msgpack:"q,omitempty"` // it must ask before it puts files into place, also with Commit
	// Memory is the bytes to sort and merge in; 0: the worker uses its own default.
	Memory int64 `msgpack:"gm,omitempty"`
	// Gang has the nodes of a task of several ranks, the first of them the one that is told; nil: the task is one process.
	Gang []Share `msgpack:"ga,omitempty"`
	// GPUs is as that of event.AttemptStarted.
	GPUs []uint16 `msgpack:"gp,omitempty"`
}

// Share is the part of a gang on one node, and how the other nodes reach it.
type Share struct {
	event.Share `msgpack:",inline"`
	Host        string `msgpack:"h"`
	Addr        string `msgpack:"a"` // host:port of its worker (event.NodeJoined)
}

// Join prepares a node for its share of a gang. What it needs to know comes from the gang's first node, which is told by Start and through which the
// processes of the share are started. The worker says that the attempt runs there, until Leave or until the gang has ended.
type Join struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"-"`
}

// Leave ends what is left of a gang on a node other than its first one, whose attempt has ended.
type Leave struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"-"`
}

// Kill ends an attempt; the worker answers with AttemptEnded.
type Kill struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"-"`
	Reason  string      `msgpack:"r"`
	Keep    bool        `msgpack:"k,omitempty"` // what the task printed until then is put into place
}

// Grant lets an attempt run up to and including a phase.
type Grant struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"-"`
	Phase   job.Phase   `msgpack:"p"`
	Memory  int64       `msgpack:"gm,omitempty"` // see Start.Memory
	Net     int64       `msgpack:"gn,omitempty"` // a coordinator of an earlier version may send a rate, which is not used
}

// Commit permits an attempt to commit its output.
type Commit struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"-"`
	Except  []int32     `msgpack:"e,omitempty"` // indices of the files for which it asked that belong to other jobs
}

// Ask has an attempt ask before it puts files into place, whatever it was permitted before; Asks answers it.
type Ask struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"-"`
}

// Locate tells a node's reduce attempts where a map output is. Each node that runs
// reduces of the job learns of each output once, and again when it was made again.
type Locate struct {
	Node    job.NodeID  `msgpack:"-"` // the node that is told
	Attempt job.Attempt `msgpack:"m"` // the map attempt whose output it is
	Holder  job.NodeID  `msgpack:"h"`
	Addr    string      `msgpack:"a"`            // where Holder serves it
	Outputs string      `msgpack:"od,omitempty"` // folder of Holder's map outputs, where this node can read it; empty: it cannot
}

// Ends tells a node when its allocation ends. A node whose allocation has no end, as far as known, is told nothing.
type Ends struct {
	Node job.NodeID
	At   job.Time
}

// Forget makes a node drop what it holds of a job.
type Forget struct {
	Node job.NodeID `msgpack:"-"`
	Job  job.ID     `msgpack:"j"`
}

// Request asks the driver for an allocation.
type Request struct {
	Alloc   job.AllocID
	Request job.AllocRequest
}

// Release gives an allocation back. A new coordinator repeats it for allocations that
// are over and not cleared.
type Release struct {
	Alloc  job.AllocID
	On     string // its driver; empty: unknown
	Reason string
}

// Plan requests a plan for the remaining tasks of a job on allocations of a batch system; Planned
// answers it. There is at most one open request for each job.
type Plan struct {
	Job       job.ID
	Reason    string        // one line
	Remaining job.Remaining // its allocations are all those of the job's pool
}

// Clear makes the driver remove the remains of an allocation of a batch system that is over, as no
// job needs the map outputs on its nodes any more. Cleared answers it when all is removed.
// It is emitted once for each such allocation; a new coordinator repeats it if the answer
// is not on record.
type Clear struct {
	Alloc job.AllocID
	On    string // its driver
}

// Seek asks for the state of a job that another job waits for and that is not in memory; Found answers it.
type Seek struct{ Job job.ID }

// Finalize commits a job's output as a whole (_SUCCESS); Finalized answers it.
type Finalize struct{ Job job.ID }
