package wire

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/core/step"
	"berth/internal/sys/probe"
)

// Message is a message between coordinator and worker: a value of one of the types of messages.
type Message any

// messages maps the numbers of message kinds to their types. A number is never reused.
var messages = map[byte]Message{
	// Messages from worker to coordinator.
	kindHello: &Hello{},
	2:         &Heartbeat{},
	3:         PhaseEntered{},
	4:         GrantWanted{},
	5:         CommitWanted{},
	6:         Ended{},
	7:         FetchFailed{},
	8:         &Retiring{},
	9:         &Synced{},
	10:        &Printed{},
	11:        Asks{},

	// Messages from coordinator to worker.
	65: &Welcome{},
	66: &HeartbeatAck{},
	67: &Job{},
	68: &Start{},
	69: Kill{},
	70: Grant{},
	71: Commit{},
	72: Locate{},
	73: Forget{},
	74: &EndedAck{},
	75: &Shutdown{},
	76: &Sync{},
	77: &ReadOutput{},
	78: &Ends{},
	79: Ask{},
	80: Join{},
	81: Leave{},
}

// kindHello is the kind of Hello in every version.
const kindHello = 1

// Version is the protocol's version. A worker of another version is refused.
const Version = 13

// Hello is a worker's first message on a connection.
type Hello struct {
	Version  int           `msgpack:"v"`
	Node     job.NodeID    `msgpack:"n"`
	Host     string        `msgpack:"h"`
	Addr     string        `msgpack:"a"` // host:port of its shuffle server
	PID      int           `msgpack:"p"`
	Capacity job.Resources `msgpack:"c"`
	Running  []job.Attempt `msgpack:"r"`            // running, or ended without an EndedAck
	Held     []job.Attempt `msgpack:"o"`            // complete map outputs on its disk
	Outputs  string        `msgpack:"od,omitempty"` // folder of its map outputs that other nodes can read; empty: there is none
	Type     string        `msgpack:"t,omitempty"`  // of its processors (predict.NodeType)
	Apart    bool          `msgpack:"ap,omitempty"` // it does not see the folders of jobs, and must not receive the user's environment
}

// Welcome answers Hello. A worker that receives nothing for Lease stops committing without a new
// permission, and asks again after the next Welcome.
type Welcome struct {
	Heartbeat time.Duration `msgpack:"h"` // interval of the worker's heartbeats
	Lease     time.Duration `msgpack:"l"`
	Now       job.Time      `msgpack:"t"` // the coordinator's time
}

// Heartbeat says that the worker is alive; HeartbeatAck says that the coordinator is.
type Heartbeat struct {
	Progress []Progress `msgpack:"p,omitempty"`
}

// Progress is the progress of a running attempt and of its current phase.
type Progress struct {
	job.Progress        `msgpack:",inline"`
	probe.PhaseProgress `msgpack:",inline"`
}

// HeartbeatAck answers Heartbeat.
type HeartbeatAck struct{}

// Inputs and actions of the engine that are messages as they are. They say what happened to an attempt on a node, and what is to be done
// with it. The worker repeats Ended after a new connection until it receives EndedAck.
type (
	PhaseEntered = step.PhaseEntered
	GrantWanted  = step.GrantWanted
	CommitWanted = step.CommitWanted
	Asks         = step.Asks
	Ended        = step.AttemptEnded
	FetchFailed  = step.FetchFailed

	Join   = step.Join
	Leave  = step.Leave
	Kill   = step.Kill
	Grant  = step.Grant
	Commit = step.Commit
	Ask    = step.Ask
	Locate = step.Locate
	Forget = step.Forget
)

// Retiring says that the worker was asked to end, for example at the end of its allocation. It
// starts nothing more, kills what runs, reports how each attempt ended (event.Lost unless it
// succeeded), and closes the connection when these ends are acknowledged.
type Retiring struct {
	Reason string `msgpack:"r"`
}

// Job describes a job to a worker, before the job's first Start.
type Job struct {
	Spec    []byte `msgpack:"s"` // job.Spec as JSON
	RunDir  string `msgpack:"d"` // folder of the run, for logs
	Maps    int    `msgpack:"m"` // MapReduce: number of maps
	Reduces int    `msgpack:"r"` // MapReduce: number of reduces
}

// Start starts an attempt. Entry is set for bag tasks, Split for maps.
type Start struct {
	step.Start `msgpack:",inline"`
	Entry      job.Entry  `msgpack:"e,omitempty"`
	Split      *job.Split `msgpack:"s,omitempty"`
	Task       *task.Spec `msgpack:"k,omitempty"` // of a bag's task with values of its own; nil: it has the bag's
}

// EndedAck says that the end of an attempt is in the journal.
type EndedAck struct {
	Attempt job.Attempt `msgpack:"a"`
}

// Shutdown ends the worker.
type Shutdown struct {
	Reason string `msgpack:"r"`
}

// Ends tells the worker when its allocation ends. It is sent again when the end has changed.
type Ends struct {
	Left time.Duration `msgpack:"l"` // from now on, as the clocks of machines differ
}

// Sync asks the worker to sync the outputs of all bag tasks whose end it has reported. Synced, with
// the same number, says that this was done, or which error occurred.
type Sync struct {
	N int64 `msgpack:"n"`
}

// Synced answers Sync.
type Synced struct {
	N     int64  `msgpack:"n"`
	Error string `msgpack:"e,omitempty"`
}

// MaxPrinted is the largest number of bytes in a Printed.
const MaxPrinted = 64 << 10

// ReadOutput asks for what the task of a running attempt has printed to its standard output, or to its standard error,
// from an offset on. Printed, with the same number, answers it.
type ReadOutput struct {
	N       int64       `msgpack:"n"`
	Attempt job.Attempt `msgpack:"a"`
	Stderr  bool        `msgpack:"e,omitempty"`
	Offset  int64       `msgpack:"o,omitempty"`
}

// Printed answers ReadOutput with at most MaxPrinted bytes.
type Printed struct {
	N     int64  `msgpack:"n"`
	Data  []byte `msgpack:"d,omitempty"`
	Error string `msgpack:"e,omitempty"` // why the output cannot be read
}
